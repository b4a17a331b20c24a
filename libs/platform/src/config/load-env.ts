import { canonicalLanguage, parseBrokerUrl } from '@perkway/domain';
import { bool, cleanEnv, makeValidator, num, port, str, type CleanedEnv, type ValidatorSpec } from 'envalid';
import ipaddr from 'ipaddr.js';
import { readFileSync } from 'node:fs';

/** A comma-separated list of addresses or CIDR ranges. */
const cidrList = makeValidator((input: string) => {
  const ranges = input
    .split(',')
    .map((range) => range.trim())
    .filter(Boolean);
  for (const range of ranges) {
    const isValid = range.includes('/') ? ipaddr.isValidCIDR(range) : ipaddr.isValid(range);
    if (!isValid) throw new Error(`"${range}" is no address or CIDR range`);
  }
  return ranges;
});

/** Marks a variable as secret: it may come from the file that `<NAME>_FILE` names, and docs and deployments know it. */
export const confidential = <S extends ValidatorSpec<unknown>>(spec: S): S =>
  Object.assign(spec, { [CONFIDENTIAL]: true });
const CONFIDENTIAL = Symbol('confidential');
export const isConfidential = (spec: ValidatorSpec<unknown>): boolean => CONFIDENTIAL in spec;

/** A secret of at least 32 characters. Its value never appears in a message. */
export const secret = makeValidator((input: string) => {
  if (input.length < 32) throw new Error('must have at least 32 characters');
  return input;
});

/** An absolute http(s) URL without a trailing slash. */
export const baseUrl = makeValidator((input: string) => {
  if (!/^https?:\/\//.test(input) || !URL.canParse(input)) throw new Error('must be an absolute http(s) URL');
  return input.replace(/\/+$/, '');
});

/** BCP 47, in canonical form. */
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
/** One or more comma-separated `nats://` or `tls://` servers. */
export const natsUrl = makeValidator((input: string) => {
  parseBrokerUrl(input);
  return input;
});

/** Read by every app. */
export const platformEnv = {
  NODE_ENV: str({
    choices: ['development', 'test', 'production'],
    default: 'production',
    desc: 'As Node and its libraries understand it',
  }),
  HOST: str({ default: '127.0.0.1', desc: 'Address to listen on' }),
  PORT: port({ desc: 'Port to listen on' }),
  METRICS_PORT: port({
    default: undefined,
    desc: 'A port of its own for /metrics, which then is nowhere else; /livez and /readyz are on both',
  }),
  EXPOSE_ADMIN: bool({ default: true, desc: 'false: /admin is on METRICS_PORT only' }),
  EXPOSE_DOCS: bool({
    default: true,
    desc: 'false: /docs, /docs-json and /docs-yaml are on METRICS_PORT only',
  }),
  LOG_LEVEL: str({
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    desc: 'From which level on lines go into the log; debug has a line for every request',
  }),
  TRUSTED_PROXIES: cidrList({ default: [], desc: 'Proxies whose X-Forwarded-For is believed' }),
  NATS_URL: confidential(
    natsUrl({
      desc: 'NATS servers, separated by commas, with or without a user. `tls://` refuses a connection in clear',
    }),
  ),
  NATS_PASSWORD: confidential(
    str({ default: '', desc: 'Password of the NATS user that is called as the app' }),
  ),
  NATS_CREDS_FILE: str({ default: '', desc: 'File with the credentials of a NATS user (JWT and seed)' }),
  NATS_CA_FILE: str({ default: '', desc: 'File with the certificates that sign those of the NATS servers' }),
  SHUTDOWN_DELAY_MS: num({ default: 0, desc: 'Time between "not ready" and closing, for load balancers' }),
};
/** Read by every app that owns a schema. */
export const databaseEnv = {
  DATABASE_URL: confidential(
    postgresUrl({ desc: "The app's own role; its search_path is the app's schema" }),
  ),
  DATABASE_POOL_SIZE: num({
    default: 10,
    desc: 'Connections of one replica at most, beside those of its outbox',
  }),
};

export type PlatformEnv = CleanedEnv<typeof platformEnv>;
export type DatabaseEnv = CleanedEnv<typeof databaseEnv>;

/** The environment is wrong: one sentence that names every wrong or missing variable and no value. */
export class ConfigError extends Error {}

/** What is wrong with some variables, by name. */
type Problems = Record<string, string>;

/** The environment with the secrets that are in files, without the white space at their ends. */
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
        problems[name] ??= isMissing ? `${name} is missing` : `${name} is wrong (${reasonOf(error)})`;
      }
      const sentences = Object.values(problems);
      if (sentences.length > 0) throw new ConfigError(`Wrong environment: ${sentences.join('; ')}.`);
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
