import { cleanEnv, makeValidator, num, port, str, type CleanedEnv, type ValidatorSpec } from 'envalid';
import ipaddr from 'ipaddr.js';

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

const connectionUrl = (scheme: RegExp, what: string) =>
  makeValidator((input: string) => {
    if (!scheme.test(input)) throw new Error(`must be a ${what} URL`);
    return input;
  });
export const postgresUrl = connectionUrl(/^postgres(ql)?:\/\//, 'postgres://');
/** One or more comma-separated `nats://` or `tls://` servers. */
export const natsUrl = connectionUrl(/^(nats|tls):\/\//, 'nats://');

/** Read by every app. */
export const platformEnv = {
  NODE_ENV: str({ choices: ['development', 'test', 'production'], default: 'production' }),
  HOST: str({ default: '127.0.0.1', desc: 'Address to listen on' }),
  PORT: port({ desc: 'Port to listen on' }),
  METRICS_PORT: port({
    default: undefined,
    desc: 'A port of its own for /metrics, which then is nowhere else; /livez and /readyz are on both',
  }),
  LOG_LEVEL: str({
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
  }),
  TRUSTED_PROXIES: cidrList({ default: [], desc: 'Proxies whose X-Forwarded-For is believed' }),
  NATS_URL: natsUrl({ desc: 'NATS server' }),
  SHUTDOWN_DELAY_MS: num({ default: 0, desc: 'Time between "not ready" and closing, for load balancers' }),
};
/** Read by every app that owns a schema. */
export const databaseEnv = {
  DATABASE_URL: postgresUrl({ desc: "The app's own role; its search_path is the app's schema" }),
  DATABASE_POOL_SIZE: num({ default: 10 }),
};

export type PlatformEnv = CleanedEnv<typeof platformEnv>;
export type DatabaseEnv = CleanedEnv<typeof databaseEnv>;

/** The environment is wrong: one sentence that names every wrong or missing variable and no value. */
export class ConfigError extends Error {}

/** Parses and validates the environment once, at start. */
export function loadEnv<S extends Record<string, ValidatorSpec<unknown>>>(
  spec: S,
  source: NodeJS.ProcessEnv = process.env,
): CleanedEnv<S> {
  const validated = cleanEnv(source, spec, {
    reporter: ({ errors }) => {
      const problems = Object.entries(errors).map(([name, error]) => {
        const isMissing = error?.constructor.name === 'EnvMissingError';
        return isMissing ? `${name} is missing` : `${name} is wrong (${reasonOf(error)})`;
      });
      if (problems.length > 0) throw new ConfigError(`Wrong environment: ${problems.join('; ')}.`);
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
