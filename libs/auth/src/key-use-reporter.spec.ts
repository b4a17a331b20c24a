import type { KeyUses, ResolvedKey } from '@perkway/domain';
import type { KeyStore } from './key-store.js';
import { KeyUseReporter } from './key-use-reporter.js';

const MINUTE = 60_000;
const NOON = 1_793_880_000_000;

describe('KeyUseReporter', () => {
  let used: { value: ResolvedKey; usedAt: number }[];
  let reported: KeyUses['minutes'][];
  let isUnavailable: boolean;
  let reporter: KeyUseReporter;
  const use = (keyId: string, usedAt: number) => {
    jest.setSystemTime(usedAt);
    used = used.filter(({ value }) => value.keyId !== keyId);
    used.push({ value: { keyId, account: 'a', role: 'USER' }, usedAt });
  };

  beforeEach(() => {
    jest.useFakeTimers({ now: NOON });
    [used, reported, isUnavailable] = [[], [], false];
    const keys = { usedSince: (since: number) => used.filter(({ usedAt }) => usedAt >= since) };
    reporter = new KeyUseReporter(
      keys as unknown as KeyStore,
      async ({ minutes }) => {
        if (isUnavailable) throw new Error('unavailable');
        reported.push(minutes);
      },
      { add: jest.fn() },
    );
  });
  afterEach(() => jest.useRealTimers());

  it('reports a key once a minute, however often it is used', async () => {
    for (const seconds of [0, 5, 10, 55, 60, 65]) {
      use('k', NOON + seconds * 1_000);
      await reporter.report();
    }
    expect(reported).toEqual([{ k: NOON / MINUTE }, { k: NOON / MINUTE + 1 }]);
  });

  it('does not report a request with an expired key', async () => {
    used.push({ value: { keyId: 'k', account: 'a', role: 'USER', expiresAt: NOON }, usedAt: NOON });
    await reporter.report();
    expect(reported).toEqual([]);
  });

  it('reports nothing if no key was used', async () => {
    await reporter.report();
    use('k', NOON);
    jest.setSystemTime(NOON + 5_000);
    await reporter.report();
    jest.setSystemTime(NOON + 10_000);
    await reporter.report();
    expect(reported).toEqual([{ k: NOON / MINUTE }]);
  });

  it('reports again what the owner did not receive', async () => {
    isUnavailable = true;
    use('k', NOON);
    await expect(reporter.report()).rejects.toThrow('unavailable');
    isUnavailable = false;
    use('l', NOON + 7_000);
    await reporter.report();
    expect(reported).toEqual([{ k: NOON / MINUTE, l: NOON / MINUTE }]);
  });
});
