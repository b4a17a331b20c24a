import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { CatalogueError } from './catalogue-error.js';
import type { Hosts } from './apply-catalogue.js';

export const USAGE = `npm run apply -- <directory> [--dry-run] [--stack FILE | --host name=URL ... [--key KEY]]

  --dry-run        prints what would change, and writes nothing
  --stack FILE     the stack file of the running stack (default: STACK_FILE or .local/stack.json)
  --host name=URL  a host that runs elsewhere: token, perks, boost or gift; repeat it for each
  --key KEY        an ADMIN key; better in the environment, as ADMIN_KEY or the file ADMIN_KEY_FILE
  --accounts FILE  writes there what belongs to each account, as the demo needs it`;

export interface Settings {
  directory: string;
  hosts: Hosts;
  adminKey: string;
  isTrial: boolean;
  /** Where to write what belongs to each account. */
  accountsFile?: string;
}

/** Reads the command line. @throws CatalogueError that says how it is written */
export function readSettings(args: string[], env: NodeJS.ProcessEnv, cwd: string): Settings {
  const wrong = (problem: string): CatalogueError => new CatalogueError([`${problem}\n\n${USAGE}`]);
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean', default: false },
        stack: { type: 'string' },
        host: { type: 'string', multiple: true },
        key: { type: 'string' },
        accounts: { type: 'string' },
      },
    });
  } catch (error) {
    throw wrong((error as Error).message);
  }
  const { values, positionals } = parsed;
  const [directory, ...more] = positionals;
  if (directory === undefined || more.length > 0) throw wrong('Name one directory.');
  const key = values.key ?? keyOf(env);
  const common = {
    directory: resolve(cwd, directory),
    isTrial: values['dry-run'],
    ...(values.accounts !== undefined && { accountsFile: resolve(cwd, values.accounts) }),
  };

  if (values.host) {
    if (values.stack !== undefined) throw wrong('Name the stack or its hosts, not both.');
    if (!key) throw wrong('An ADMIN key is needed: as ADMIN_KEY in the environment, or by --key.');
    const hosts: Hosts = {};
    for (const given of values.host) {
      const [, name, url] = /^([a-z]+)=(https?:\/\/.+)$/.exec(given) ?? [];
      if (!name || !url || !URL.canParse(url)) throw wrong(`"${given}" is not name=URL.`);
      hosts[name] = url;
    }
    return { ...common, hosts, adminKey: key };
  }
  const file = resolve(cwd, values.stack ?? (env.STACK_FILE || '.local/stack.json'));
  try {
    const { hosts, adminKey } = JSON.parse(readFileSync(file, 'utf8')) as { hosts: Hosts; adminKey: string };
    return { ...common, hosts, adminKey: key ?? adminKey };
  } catch (error) {
    throw wrong(`There is no running stack: ${file} cannot be read (${(error as Error).message}).`);
  }
}

function keyOf({ ADMIN_KEY, ADMIN_KEY_FILE }: NodeJS.ProcessEnv): string | undefined {
  if (!ADMIN_KEY_FILE) return ADMIN_KEY || undefined;
  try {
    return readFileSync(ADMIN_KEY_FILE, 'utf8').trim();
  } catch (error) {
    throw new CatalogueError([`ADMIN_KEY_FILE cannot be read: ${(error as Error).message}`]);
  }
}
