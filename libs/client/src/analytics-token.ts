import { SYSTEM_CLOCK, type Clock } from './clock.js';

interface Issued {
  token: string;
  /** Epoch milliseconds on the server's clock. */
  expiration: number;
  serverTime: { epoch_timestamp: number };
}

/** A token is renewed this long before it expires. */
const MARGIN_MS = 30_000;

/** Caches one token for its lifetime, measured by the local clock; concurrent calls share one request. */
export function analyticsToken(
  issue: () => Promise<Issued>,
  clock: Pick<Clock, 'now'> = SYSTEM_CLOCK,
): () => Promise<string> {
  let current: Promise<{ token: string; renewAt: number }> | undefined;
  const renew = () => {
    const requested = issue().then(({ token, expiration, serverTime }) => {
      const lastsMs = expiration - serverTime.epoch_timestamp * 1000;
      return { token, renewAt: clock.now() + lastsMs - MARGIN_MS };
    });
    current = requested;
    // After a failure, let the next call try again.
    requested.catch(() => {
      if (current === requested) current = undefined;
    });
    return requested;
  };
  return async () => {
    const requested = current;
    if (requested) {
      const known = await requested;
      if (known.renewAt > clock.now()) return known.token;
      // Another call may have renewed it already.
      if (current === requested) current = undefined;
    }
    return (await (current ?? renew())).token;
  };
}
