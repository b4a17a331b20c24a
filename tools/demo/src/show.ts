/** Shows enough of a secret to recognize it, but too little to use it. */
export const masked = (secret: string): string => secret.replace(/^(Bearer )?(.{0,4}).*$/s, '$1$2…');

/** Parameters with the run's name in every tracked URL. They are not printed. */
export const MARKS = ['utm_campaign', 'cmeta_demo_run'];

const SECRET_PARAMETERS = ['token', 'api_key'];

/** Returns a URL to print, with link tokens, keys and fragments masked. */
export function shownUrl(url: string): string {
  const { origin, pathname, searchParams, hash } = new URL(url);
  const path = pathname.replace(/^\/c\/(.+)$/, (_, token: string) => `/c/${masked(token)}`);
  const query = [...searchParams]
    .filter(([name]) => !MARKS.includes(name))
    .map(([name, value]) => `${name}=${SECRET_PARAMETERS.includes(name) ? masked(value) : value}`)
    .join('&');
  return `${origin}${path}${query && `?${query}`}${hash && `#${masked(hash.slice(1))}`}`;
}

const SECRET_HEADERS = ['x-api-key', 'authorization'];
const UNSHOWN_HEADERS = ['user-agent', 'content-type'];

/** Returns the usual spelling, such as `X-API-Key`. */
const headerName = (name: string): string =>
  name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()).replace('-Api-', '-API-');

/** Returns the interesting headers in one line. */
export const shownHeaders = (headers: Headers): string =>
  [...headers]
    .filter(([name]) => !UNSHOWN_HEADERS.includes(name))
    .map(([name, value]) => `${headerName(name)}: ${SECRET_HEADERS.includes(name) ? masked(value) : value}`)
    .join('   ');

export const short = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
