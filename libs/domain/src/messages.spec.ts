import * as messages from './messages.js';

describe('the RPC contracts', () => {
  it('are all in the list, each with its own subject', () => {
    const { RPC_CONTRACTS, ERASE, ...others } = messages;
    const contracts = [
      ...Object.values(others).filter((value) => 'subject' in value),
      ...Object.values(ERASE),
    ];
    expect(new Set(RPC_CONTRACTS)).toEqual(new Set(contracts));
    expect(new Set(RPC_CONTRACTS.map(({ subject }) => subject)).size).toBe(contracts.length);
  });

  it('are never called by their owner', () => {
    for (const { owner, callers } of messages.RPC_CONTRACTS) expect(callers).not.toContain(owner);
  });
});
