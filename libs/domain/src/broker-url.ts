import { parseUrl } from './parse-url.js';

/** The parts of a NATS URL: `nats://user:password@host:4222`, `tls://host`, or several separated by commas. */
export interface BrokerAddress {
  /** `host:port`, at least one. */
  servers: string[];
  user?: string;
  password?: string;
  /** Userinfo without a password. */
  token?: string;
  /** From a `tls://` URL: requires TLS. */
  tls: boolean;
}

const DEFAULT_PORT = '4222';

function parseServer(text: string): URL {
  const url = parseUrl(text.trim());
  if (!url?.hostname || !['nats:', 'tls:'].includes(url.protocol))
    throw new Error('must be a nats:// or tls:// URL, or several separated by commas');
  return url;
}

const distinct = (texts: string[]): string[] => [...new Set(texts)];

/**
 * Parses a NATS URL, because the NATS client ignores its userinfo and treats `tls://` like `nats://`.
 * @throws Error that does not repeat any part of the URL
 */
export function parseBrokerUrl(text: string): BrokerAddress {
  const urls = text.split(',').map(parseServer);
  const [protocol, ...otherProtocols] = distinct(urls.map((url) => url.protocol));
  if (otherProtocols.length > 0) throw new Error('must not mix nats:// and tls://');
  const logins = distinct(
    urls.map((url) => `${url.username}:${url.password}`).filter((login) => login !== ':'),
  );
  if (logins.length > 1) throw new Error('must have the same user in all of its URLs');
  const [name = '', password = ''] = (logins[0] ?? '').split(':').map(decodeURIComponent);
  return {
    servers: urls.map((url) => `${url.hostname}:${url.port || DEFAULT_PORT}`),
    ...(password ? { user: name, password } : name ? { token: name } : {}),
    tls: protocol === 'tls:',
  };
}

/** Returns URLs of the same servers for another user. */
export const asBrokerUser = (urls: string, user: string, password: string): string =>
  urls
    .split(',')
    .map((text) => {
      const url = parseServer(text);
      url.username = encodeURIComponent(user);
      url.password = encodeURIComponent(password);
      return url.toString();
    })
    .join(',');
