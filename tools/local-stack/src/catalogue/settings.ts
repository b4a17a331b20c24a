import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ParseArgsConfig, parseArgs } from 'node:util';

import { parseUrl } from '@perkway/domain';
import { CatalogueError } from './catalogue-error.js';
import type { Hosts } from './apply-catalogue.js';

export const USAGE = `npm run apply -- <directory> [options], or perkway apply <directory> [options]

Applies a folder with a catalogue through the management API (see docs/catalogue.md).

  --dry-run            prints the changes without writing them
  --stack <file>       stack file of the running stack; default: STACK_FILE or .local/stack.json
  --host <name>=<url>  URL of a host that runs elsewhere: token, perks, boost or gift; repeat for each
  --key <key>          ADMIN key; it is safer in ADMIN_KEY or in the file that ADMIN_KEY_FILE names
  --accounts <file>    writes the accounts with their keys and resources to the file, for perkway demo`;

export const COMMAND_LINE = {
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    stack: { type: 'string' },
    host: { type: 'string', multiple: true },
    key: { type: 'string' },
    accounts: { type: 'string' },
  },
} as const satisfies ParseArgsConfig;

export interface Settings {
  directory: string;
  hosts: Hosts;
  adminKey: string;
  isDryRun: boolean;
  /** The file to write the accounts with their keys and resources to. */
  accountsFile?: string;
}

/** @throws CatalogueError that says what is wrong with the command line */
export function readSettings(
  { values, positionals }: ReturnType<typeof parseArgs<typeof COMMAND_LINE>>,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Settings {
  const wrong = (problem: string): CatalogueError => new CatalogueError([problem]);
  const [directory, ...more] = positionals;
  if (directory === undefined || more.length > 0) throw wrong('Give exactly one directory.');
  const key = values.key ?? keyOf(env);
  const common = {
    directory: resolve(cwd, directory),
    isDryRun: values['dry-run'],
    ...(values.accounts !== undefined && { accountsFile: resolve(cwd, values.accounts) }),
  };

  if (values.host) {
    if (values.stack !== undefined) throw wrong('Use either --stack or --host, not both.');
    if (!key) throw wrong('--host needs an ADMIN key: set ADMIN_KEY or ADMIN_KEY_FILE, or use --key.');
    const hosts: Hosts = {};
    for (const given of values.host) {
      const [, name, url] = /^([a-z]+)=(https?:\/\/.+)$/.exec(given) ?? [];
      if (!name || !url || !parseUrl(url)) throw wrong(`"${given}" must have the form name=URL.`);
      hosts[name] = url;
    }
    return { ...common, hosts, adminKey: key };
  }
  const file = resolve(cwd, values.stack ?? (env.STACK_FILE || '.local/stack.json'));
  try {
    const { hosts, adminKey } = JSON.parse(readFileSync(file, 'utf8')) as { hosts: Hosts; adminKey: string };
    return { ...common, hosts, adminKey: key ?? adminKey };
  } catch (error) {
    throw wrong(`No stack is running: cannot read ${file} (${(error as Error).message}).`);
  }
}

function keyOf({ ADMIN_KEY, ADMIN_KEY_FILE }: NodeJS.ProcessEnv): string | undefined {
  if (!ADMIN_KEY_FILE) return ADMIN_KEY || undefined;
  try {
    return readFileSync(ADMIN_KEY_FILE, 'utf8').trim();
  } catch (error) {
    throw new CatalogueError([`cannot read ADMIN_KEY_FILE: ${(error as Error).message}`]);
  }
}
