import { UnknownTokenLimiter } from './unknown-token-limiter.js';

const START = 1_000_000;

describe('UnknownTokenLimiter', () => {
  it('lets the limit through in a minute that begins with the first try', () => {
    const limiter = new UnknownTokenLimiter({ UNKNOWN_LINKS_PER_MINUTE: 3 });
    const tries = [0, 10, 20, 59_999].map((after) => limiter.count('192.0.2.1', START + after));

    expect(tries.map(({ exceeded }) => exceeded)).toEqual([false, false, false, true]);
    expect(tries.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
    expect(tries.map(({ resetSeconds }) => resetSeconds)).toEqual([60, 60, 60, 1]);
    expect(limiter.count('192.0.2.1', START + 60_000)).toEqual({
      limit: 3,
      remaining: 2,
      resetSeconds: 60,
      exceeded: false,
    });
  });

  it('counts each address by itself, and an IPv6 network of 64 bits as one', () => {
    const limiter = new UnknownTokenLimiter({ UNKNOWN_LINKS_PER_MINUTE: 1 });
    const isExceeded = (address: string) => limiter.count(address, START).exceeded;

    expect(isExceeded('192.0.2.1')).toBe(false);
    expect(isExceeded('192.0.2.2')).toBe(false);
    expect(isExceeded('2001:db8:0:1::1')).toBe(false);
    expect(isExceeded('2001:db8:0:1:ffff::2')).toBe(true);
    expect(isExceeded('2001:db8:0:2::1')).toBe(false);
    expect(isExceeded('unknown')).toBe(false);
  });

  it('keeps at most 50,000 addresses, the newest', () => {
    const limiter = new UnknownTokenLimiter({ UNKNOWN_LINKS_PER_MINUTE: 1 });
    limiter.count('first', START);
    for (let index = 0; index < 50_000; index += 1) limiter.count(`address-${index}`, START + 1);

    expect(limiter.count('address-49999', START + 2).exceeded).toBe(true);
    expect(limiter.count('first', START + 2).exceeded).toBe(false);
  });
});
