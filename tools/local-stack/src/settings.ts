import { dirname, resolve } from 'node:path';
import { parseBrokerUrl, parseUrl } from '@perkway/domain';
import { LAST_PORT } from '@perkway/fleet';
import { ROOT } from './paths.js';

/** A problem that the user can fix. The message is a sentence that says how. */
export class StackError extends Error {}

export interface Settings {
  portBase: number;
  /** Absolute. */
  dataDir: string;
  /** Absolute. */
  stackFile: string;
  /** Whether STACK_FILE was set. Only the default path may change if another stack uses it. */
  stackFileNamed: boolean;
  fresh: boolean;
  /** A superuser's URL of a running Postgres. */
  databaseUrl?: string;
  /** The URL of a running nats-server with JetStream. */
  natsUrl?: string;
}

const DEFAULT_BASE = 4000;

const urlOf = (env: NodeJS.ProcessEnv, name: string, schemes: string[]): string | undefined => {
  const value = env[name];
  if (!value) return undefined;
  if (schemes.includes(parseUrl(value)?.protocol ?? '')) return value;
  throw new StackError(`${name} must be a URL that begins with ${schemes[0]}//.`);
};

function brokerUrlOf({ NATS_URL }: NodeJS.ProcessEnv): string | undefined {
  if (!NATS_URL) return undefined;
  try {
    parseBrokerUrl(NATS_URL);
    return NATS_URL;
  } catch (error) {
    throw new StackError(`NATS_URL ${(error as Error).message}.`, { cause: error });
  }
}

/** Reads the options of `npm start` from the environment. */
export function readSettings(fresh: boolean, env: NodeJS.ProcessEnv, cwd: string): Settings {
  const given = env.PORT_BASE || String(DEFAULT_BASE);
  const portBase = Number(given);
  if (!/^\d+$/.test(given) || portBase < 1 || portBase + LAST_PORT > 65_535)
    throw new StackError(`PORT_BASE must be a number from 1 to ${65_535 - LAST_PORT}; it is "${given}".`);
  // Stacks with different port bases run side by side, so each has its own data folder.
  const dataName = portBase === DEFAULT_BASE ? 'data' : `data-${portBase}`;
  return {
    portBase,
    dataDir: env.DATA_DIR ? resolve(cwd, env.DATA_DIR) : resolve(ROOT, '.local', dataName),
    stackFile: env.STACK_FILE ? resolve(cwd, env.STACK_FILE) : resolve(ROOT, '.local', 'stack.json'),
    stackFileNamed: Boolean(env.STACK_FILE),
    fresh,
    databaseUrl: urlOf(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    natsUrl: brokerUrlOf(env),
  };
}

/** The stack file of a second stack without STACK_FILE. */
export const stackFileOfBase = ({ stackFile, portBase }: Settings): string =>
  resolve(dirname(stackFile), `stack-${portBase}.json`);

/** Returns the database to use on an external server: the one in its URL, unless it is one that every server has. */
export function databaseName(adminUrl: string): string {
  const name = decodeURIComponent(new URL(adminUrl).pathname.slice(1));
  return ['', 'postgres', 'template0', 'template1'].includes(name) ? 'perkway' : name;
}
