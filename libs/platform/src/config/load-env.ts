import { canonicalLanguage, parseBrokerUrl, parseUrl } from '@perkway/domain';
import { bool, cleanEnv, makeValidator, num, port, str, type CleanedEnv, type ValidatorSpec } from 'envalid';
import ipaddr from 'ipaddr.js';
import { readFileSync } from 'node:fs';

/** A comma-separated list of addresses or CIDR ranges. */
export const cidrList = makeValidator((input: string) => {
  const ranges = input
    .split(',')
    .map((range) => range.trim())
    .filter(Boolean);
  for (const range of ranges) {
    const isValid = range.includes('/') ? ipaddr.isValidCIDR(range) : ipaddr.isValid(range);
    if (!isValid) throw new Error(`"${range}" is not an address or CIDR range`);
  }
  return ranges;
});

/**
 * Marks a variable as a secret. It may be read from the file that `<NAME>_FILE` names; docs and deployments list it
 * as a secret.
 */
export const confidential = <S extends ValidatorSpec<unknown>>(spec: S): S =>
  Object.assign(spec, { [CONFIDENTIAL]: true });
const CONFIDENTIAL = Symbol('confidential');
export const isConfidential = (spec: ValidatorSpec<unknown>): boolean => CONFIDENTIAL in spec;

/** Accepts a secret of at least 32 characters. Its value never appears in a message. */
export const secret = makeValidator((input: string) => {
  if (input.length < 32) throw new Error('must have at least 32 characters');
  return input;
});

/** Accepts an absolute http(s) URL. Returns it without trailing slashes. */
export const baseUrl = makeValidator((input: string) => {
  if (!/^https?:\/\//.test(input) || !parseUrl(input)) throw new Error('must be an absolute http(s) URL');
  return input.replace(/\/+$/, '');
});

/** Accepts a BCP 47 language tag. Returns it in canonical form. */
export const language = makeValidator((input: string) => {
  const tag = canonicalLanguage(input);
  if (!tag) throw new Error('must be a language tag such as en');
  return tag;
});

const connectionUrl = (scheme: RegExp, what: string) =>
  makeValidator((input: string) => {
    if (!scheme.test(input)) throw new Error(`must be a ${what} URL`);
    return input;
  });
export const postgresUrl = connectionUrl(/^postgres(ql)?:\/\//, 'postgres://');
/** Accepts one or more comma-separated `nats://` or `tls://` servers. */
export const natsUrl = makeValidator((input: string) => {
  parseBrokerUrl(input);
  return input;
});

/** Variables that every app reads. */
export const platformEnv = {
  NODE_ENV: str({
    choices: ['development', 'test', 'production'],
    default: 'production',
    desc: 'Environment name for Node.js and its libraries',
  }),
  HOST: str({ default: '127.0.0.1', desc: 'Address to listen on' }),
  PORT: port({ desc: 'Port to listen on' }),
  METRICS_PORT: port({
    default: undefined,
    desc: 'Separate port for /metrics, which PORT then does not serve; both serve /livez and /readyz',
  }),
  EXPOSE_ADMIN: bool({
    default: true,
    desc: 'false: only METRICS_PORT serves /admin and documents it in /docs-json',
  }),
  EXPOSE_DOCS: bool({ default: true, desc: 'false: only METRICS_PORT serves /docs and /docs-yaml' }),
  LOG_LEVEL: str({
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    desc: 'Minimum level of log lines; debug logs every request',
  }),
  TRUSTED_PROXIES: cidrList({ default: [], desc: 'Proxies whose X-Forwarded-For is trusted' }),
  NATS_URL: confidential(
    natsUrl({
      desc: 'Comma-separated NATS servers, with or without a user. `tls://` rejects unencrypted connections',
    }),
  ),
  NATS_PASSWORD: confidential(
    str({ default: '', desc: 'Password of the NATS user that has the name of the app' }),
  ),
  NATS_CREDS_FILE: str({ default: '', desc: 'File with the credentials of a NATS user (JWT and seed)' }),
  NATS_CA_FILE: str({ default: '', desc: 'File with the CA certificates of the NATS servers' }),
  SHUTDOWN_DELAY_MS: num({
    default: 0,
    desc: 'Milliseconds between becoming unready and closing, so that load balancers stop sending requests',
  }),
};
/** Variables that every app with a schema reads. */
export const databaseEnv = {
  DATABASE_URL: confidential(
    postgresUrl({ desc: "Postgres URL with the app's own role, whose search_path is the app's schema" }),
  ),
  MIGRATION_DATABASE_URL: confidential(
    postgresUrl({
      default: undefined,
      desc: 'Postgres URL of the same role for migrations, without a pooler; if empty, `DATABASE_URL`',
    }),
  ),
  DATABASE_POOL_SIZE: num({
    default: 10,
    desc: 'Maximum connections per replica, in addition to those of its outbox',
  }),
};

export type PlatformEnv = CleanedEnv<typeof platformEnv>;
export type DatabaseEnv = CleanedEnv<typeof databaseEnv>;

/** Thrown for an invalid environment. The message names every invalid or missing variable, and repeats no secret. */
export class ConfigError extends Error {}

/** Problems by variable name. */
type Problems = Record<string, string>;

/** Returns the environment with secrets read from their files, trimmed at the end. */
function withSecretFiles(
  spec: Record<string, ValidatorSpec<unknown>>,
  source: NodeJS.ProcessEnv,
): { source: NodeJS.ProcessEnv; problems: Problems } {
  const read: NodeJS.ProcessEnv = {};
  const problems: Problems = {};
  for (const name of Object.keys(spec).filter((each) => isConfidential(spec[each]!))) {
    const file = source[`${name}_FILE`];
    if (!file) continue;
    try {
      if (source[name]) problems[name] = `${name} and ${name}_FILE exclude each other`;
      else read[name] = readFileSync(file, 'utf8').trimEnd();
    } catch (error) {
      problems[name] = `${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code})`;
    }
  }
  return { source: { ...source, ...read }, problems };
}

/** Parses and validates the environment once, at start. */
export function loadEnv<S extends Record<string, ValidatorSpec<unknown>>>(
  spec: S,
  environment: NodeJS.ProcessEnv = process.env,
): CleanedEnv<S> {
  const { source, problems } = withSecretFiles(spec, environment);
  const validated = cleanEnv(source, spec, {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries(errors)) {
        const isMissing = error?.constructor.name === 'EnvMissingError';
        problems[name] ??= isMissing ? `${name} is missing` : `${name} is invalid (${reasonOf(error)})`;
      }
      const sentences = Object.values(problems);
      if (sentences.length > 0) throw new ConfigError(`Invalid environment: ${sentences.join('; ')}.`);
    },
  });
  // A plain copy: envalid's proxy throws on names it does not know, and Nest asks every provider for `constructor`.
  return { ...validated };
}

// envalid's own messages repeat the input, which may be a secret.
const reasonOf = (error: Error | undefined): string => {
  const message = error?.message ?? 'not valid';
  return /^(must|")/.test(message) ? message : 'not a valid value';
};
