interface Issued {
  token: string;
  /** Epoch milliseconds, by the clock of the server. */
  expiration: number;
  serverTime: { epoch_timestamp: number };
}

/** Renewed so long before its end. */
const MARGIN_MS = 30_000;

/** Keeps one token, for as long as it is good by our own clock; those who ask at once share the asking. */
export function analyticsToken(issue: () => Promise<Issued>): () => Promise<string> {
  let current: Promise<{ token: string; renewAt: number }> | undefined;
  const renew = () => {
    const asked = issue().then(({ token, expiration, serverTime }) => {
      const lastsMs = expiration - serverTime.epoch_timestamp * 1000;
      return { token, renewAt: Date.now() + lastsMs - MARGIN_MS };
    });
    current = asked;
    // The next one asks again.
    asked.catch(() => {
      if (current === asked) current = undefined;
    });
    return asked;
  };
  return async () => {
    const asked = current;
    if (asked) {
      const known = await asked;
      if (known.renewAt > Date.now()) return known.token;
      // Unless another call has renewed it meanwhile.
      if (current === asked) current = undefined;
    }
    return (await (current ?? renew())).token;
  };
}
