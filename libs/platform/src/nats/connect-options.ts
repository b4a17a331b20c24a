import { inboxPrefix, parseBrokerUrl } from '@perkway/domain';
import { credsAuthenticator, type ConnectionOptions } from '@nats-io/transport-node';
import { readFileSync } from 'node:fs';
import type { PlatformEnv } from '../config/load-env.js';

export type NatsEnv = Pick<PlatformEnv, 'NATS_URL' | 'NATS_PASSWORD' | 'NATS_CREDS_FILE' | 'NATS_CA_FILE'>;

/**
 * A failure to connect that only a person can fix: an app that gets it while it starts should exit. The message is one
 * sentence without secrets.
 */
export class NatsError extends Error {}

function read(file: string, variable: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new NatsError(`${variable} cannot be read (${(cause as NodeJS.ErrnoException).code}).`, {
      cause,
    });
  }
}

/**
 * Returns how an app connects: as the user in `NATS_URL` or, if that names none, with `NATS_PASSWORD` as the user with
 * the app's name. If both are set, `NATS_PASSWORD` replaces the password in the URL.
 * Once connected, a client reconnects forever, and reads the files again each time.
 * @throws NatsError if a file cannot be read
 */
export function natsConnectOptions(env: NatsEnv, app: string): ConnectionOptions {
  const { servers, tls, user, password, token } = parseBrokerUrl(env.NATS_URL);
  const { NATS_PASSWORD, NATS_CREDS_FILE, NATS_CA_FILE } = env;
  if (NATS_CREDS_FILE) read(NATS_CREDS_FILE, 'NATS_CREDS_FILE');
  if (NATS_CA_FILE) read(NATS_CA_FILE, 'NATS_CA_FILE');
  return {
    servers,
    ...(token ? { token } : user ? { user, pass: password } : {}),
    ...(NATS_PASSWORD ? { user: user ?? app, pass: NATS_PASSWORD } : {}),
    ...(NATS_CREDS_FILE
      ? { authenticator: credsAuthenticator(() => read(NATS_CREDS_FILE, 'NATS_CREDS_FILE')) }
      : {}),
    // Any object, even an empty one, makes the client reject a server without TLS.
    ...(tls || NATS_CA_FILE ? { tls: { caFile: NATS_CA_FILE } } : {}),
    name: app,
    inboxPrefix: inboxPrefix(app),
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    timeout: 2_000,
    pingInterval: 10_000,
    maxPingOut: 2,
  };
}

const BAD_CERTIFICATE =
  /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_)/;

/** Explains a failed connection attempt; undefined for an error that may be temporary. */
export function asNatsError(error: unknown): NatsError | undefined {
  if (error instanceof NatsError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const refusal = (text: string) => new NatsError(text, { cause: error });
  if (/authorization violation/i.test(message))
    return refusal('NATS rejects the user; check NATS_URL, NATS_PASSWORD or NATS_CREDS_FILE.');
  if (/unable to parse credentials/.test(message)) return refusal('NATS_CREDS_FILE contains no credentials.');
  if (/does not support 'tls'/.test(message))
    return refusal('NATS_URL or NATS_CA_FILE requires TLS, but the server does not support it.');
  if (BAD_CERTIFICATE.test(code))
    return refusal(`The certificate of the NATS server is not trusted (${code}); check NATS_CA_FILE.`);
  return undefined;
}
