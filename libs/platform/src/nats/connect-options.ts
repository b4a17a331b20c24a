import { inboxPrefix, parseBrokerUrl } from '@perkway/domain';
import { credsAuthenticator, type ConnectionOptions } from '@nats-io/transport-node';
import { readFileSync } from 'node:fs';
import type { PlatformEnv } from '../config/load-env.js';

export type NatsEnv = Pick<PlatformEnv, 'NATS_URL' | 'NATS_PASSWORD' | 'NATS_CREDS_FILE' | 'NATS_CA_FILE'>;

/** A refusal that only a person can end: whoever starts with it should stop. The message is one sentence without secrets. */
export class NatsRefusal extends Error {}

function read(file: string, variable: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new NatsRefusal(`${variable} cannot be read (${(cause as NodeJS.ErrnoException).code}).`, {
      cause,
    });
  }
}

/**
 * Where and as whom an app connects: the user that `NATS_URL` names or, with `NATS_PASSWORD`, the one that is called as
 * the app. Once connected, a client reconnects for ever, and reads the files anew each time.
 * @throws NatsRefusal when a file cannot be read
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
    // An object, even an empty one, is what refuses a server without TLS.
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

/** What the error of an attempt to connect means, or undefined for one that may pass by itself. */
export function asNatsRefusal(error: unknown): NatsRefusal | undefined {
  if (error instanceof NatsRefusal) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const refusal = (text: string) => new NatsRefusal(text, { cause: error });
  if (/authorization violation/i.test(message))
    return refusal('NATS refuses the user: look at NATS_URL, NATS_PASSWORD or NATS_CREDS_FILE.');
  if (/unable to parse credentials/.test(message)) return refusal('NATS_CREDS_FILE holds no credentials.');
  if (/does not support 'tls'/.test(message))
    return refusal('NATS_URL or NATS_CA_FILE asks for TLS, and the server has none.');
  if (BAD_CERTIFICATE.test(code))
    return refusal(`The certificate of the NATS server is not trusted (${code}): look at NATS_CA_FILE.`);
  return undefined;
}
