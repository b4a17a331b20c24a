import { dirname, resolve } from 'node:path';
import { parseBrokerUrl } from '@perkway/domain';
import { LAST_PORT } from '@perkway/fleet';
import { ROOT } from './paths.js';

/** Something that the person who ran the command can mend. The message is one sentence that says how. */
export class StackError extends Error {}

export interface Settings {
  portBase: number;
  /** Absolute. */
  dataDir: string;
  /** Absolute. */
  stackFile: string;
  /** Whether the stack file was named; only its default may move when another stack uses it. */
  stackFileNamed: boolean;
  fresh: boolean;
  /** A superuser's URL of a Postgres that runs already. */
  databaseUrl?: string;
  /** A nats-server with JetStream that runs already. */
  natsUrl?: string;
}

const DEFAULT_BASE = 4000;

const urlOf = (env: NodeJS.ProcessEnv, name: string, schemes: string[]): string | undefined => {
  const value = env[name];
  if (!value) return undefined;
  const scheme = URL.canParse(value) ? new URL(value).protocol : '';
  if (schemes.includes(scheme)) return value;
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

/** Reads the options of `npm start` from the command line and the environment. */
export function readSettings(args: string[], env: NodeJS.ProcessEnv, cwd: string): Settings {
  const unknown = args.find((arg) => arg !== '--fresh');
  if (unknown !== undefined)
    throw new StackError(
      `"${unknown}" is not an option: the only one is --fresh, which starts with no data.`,
    );
  const given = env.PORT_BASE || String(DEFAULT_BASE);
  const portBase = Number(given);
  if (!/^\d+$/.test(given) || portBase < 1 || portBase + LAST_PORT > 65_535)
    throw new StackError(`PORT_BASE must be a number from 1 to ${65_535 - LAST_PORT}; it is "${given}".`);
  // Stacks beside each other have different bases, so their data must not meet either.
  const dataName = portBase === DEFAULT_BASE ? 'data' : `data-${portBase}`;
  return {
    portBase,
    dataDir: env.DATA_DIR ? resolve(cwd, env.DATA_DIR) : resolve(ROOT, '.local', dataName),
    stackFile: env.STACK_FILE ? resolve(cwd, env.STACK_FILE) : resolve(ROOT, '.local', 'stack.json'),
    stackFileNamed: Boolean(env.STACK_FILE),
    fresh: args.includes('--fresh'),
    databaseUrl: urlOf(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    natsUrl: brokerUrlOf(env),
  };
}

/** The stack file of a second stack that named none. */
export const stackFileOfBase = ({ stackFile, portBase }: Settings): string =>
  resolve(dirname(stackFile), `stack-${portBase}.json`);

/**
 * The database to use on a server that runs already: the one that its URL names, except those that every server has
 * for itself.
 */
export function databaseName(adminUrl: string): string {
  const name = decodeURIComponent(new URL(adminUrl).pathname.slice(1));
  return ['', 'postgres', 'template0', 'template1'].includes(name) ? 'perkway' : name;
}
