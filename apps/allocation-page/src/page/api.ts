import type { RewardLink } from './reward-link.js';

export type Answer =
  | { kind: 'link'; link: RewardLink }
  | { kind: 'expired' }
  | { kind: 'unknown' }
  | { kind: 'busy' }
  | { kind: 'away' };

/** A connection that takes longer than this counts as none; slow ones get their time. */
const TIMEOUT_MS = 30_000;

let clockOffset = 0;
/** Milliseconds of the server's clock, as of its last answer: an old phone's own may be far off. */
export const serverNow = (): number => Date.now() + clockOffset;

/** Asks for the link. Only `reveal` changes anything, and repeating it answers the same card. */
export function ask(token: string, operation: 'get' | 'reveal'): Promise<Answer> {
  const timeout = new Promise<Answer>((resolve) => setTimeout(resolve, TIMEOUT_MS, { kind: 'away' }));
  return Promise.race([send(token, operation), timeout]).catch((): Answer => ({ kind: 'away' }));
}

async function send(token: string, operation: 'get' | 'reveal'): Promise<Answer> {
  const reveal = operation === 'reveal';
  // The language that was chosen on the page is that of the product's texts too.
  const chosen = /[?&]lang=([\w-]+)/.exec(location.search);
  const query = chosen ? `?lang=${chosen[1]}` : '';
  const response = await fetch((reveal ? '/api/reward-link/reveal' : '/api/reward-link') + query, {
    method: reveal ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}` },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
  });
  const date = Date.parse(response.headers.get('date') || '');
  if (date) clockOffset = date - Date.now();
  switch (response.status) {
    case 200:
      return { kind: 'link', link: (await response.json()) as RewardLink };
    case 401:
    case 404:
      return { kind: 'unknown' };
    case 410:
      return { kind: 'expired' };
    case 429:
      return { kind: 'busy' };
    default:
      return { kind: 'away' };
  }
}
