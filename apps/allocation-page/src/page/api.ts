import type { RewardLink } from './reward-link.js';

export type ApiResult =
  | { kind: 'link'; link: RewardLink }
  | { kind: 'expired' }
  | { kind: 'unknown' }
  | { kind: 'busy' }
  | { kind: 'unreachable' };

/** Slower responses count as a failed connection. Long, because mobile connections may be slow. */
const TIMEOUT_MS = 30_000;

/** How far the server's clock is ahead of this one, in milliseconds, according to its last response. */
let clockOffset = 0;
/** Returns the server's current time in milliseconds, because the clock of a phone may be far off. */
export const serverNow = (): number => Date.now() + clockOffset;

/** Requests the link. Only `reveal` changes anything, and repeating it returns the same card. */
export function callApi(token: string, operation: 'get' | 'reveal'): Promise<ApiResult> {
  const timeout = new Promise<ApiResult>((resolve) =>
    setTimeout(resolve, TIMEOUT_MS, { kind: 'unreachable' }),
  );
  return Promise.race([send(token, operation), timeout]).catch((): ApiResult => ({ kind: 'unreachable' }));
}

async function send(token: string, operation: 'get' | 'reveal'): Promise<ApiResult> {
  const reveal = operation === 'reveal';
  // The language chosen on the page also applies to the product's texts.
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
  const revealed_at = Number(response.headers.get('perkway-revealed-at'));
  const language = response.headers.get('content-language');
  switch (response.status) {
    case 200:
      return { kind: 'link', link: { ...((await response.json()) as RewardLink), revealed_at, language } };
    case 401:
    case 404:
      return { kind: 'unknown' };
    case 410:
      return { kind: 'expired' };
    case 429:
      return { kind: 'busy' };
    default:
      return { kind: 'unreachable' };
  }
}
