import { readCommandLine } from '@perkway/command-line';
import { parseUrl } from '@perkway/domain';
import { FLEET, hasDatabase, APPS, READER_ROLE, type DatabaseApp } from '@perkway/fleet';
import { provisionDatabase } from '@perkway/local-servers';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, readVariable, runCommand } from './read-variable.js';

const USAGE = `perkway provision

Creates a role and a schema for each app on the server of DATABASE_ADMIN_URL, and waits for that server first. Takes role and
password of an app from its DATABASE_URL, which must be given as <APP>_DATABASE_URL, such as GIFT_CARDS_DATABASE_URL, or in a
file that <APP>_DATABASE_URL_FILE names. Repeat the command to change passwords.`;

const WAIT_LIMIT_MS = 300_000;
const PAUSE_MS = 1_000;
/** Errors of a server that is not running yet, or is starting. */
const NOT_YET = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ECONNRESET',
  'EHOSTUNREACH',
  '57P03',
];

interface Login {
  role: string;
  password: string;
  database: string;
}

function readLogin(variable: string, role: string): Login | undefined {
  const text = readVariable(variable);
  if (!text) return undefined;
  const url = parseUrl(text);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol))
    throw new CommandError(`${variable} must be a postgres:// URL.`);
  const login = {
    role: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  };
  if (login.role !== role) throw new CommandError(`${variable} must have the user ${role}.`);
  if (!login.password || !login.database)
    throw new CommandError(`${variable} must have a password and a database.`);
  return login;
}

/** Reads the logins of the apps with a URL in the environment. */
function readLogins(): { apps: DatabaseApp[]; logins: Login[] } {
  const logins: Login[] = [];
  const apps = APPS.filter(hasDatabase).filter((app) => {
    const login = readLogin(
      `${app.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`,
      FLEET[app].database.role,
    );
    if (login) logins.push(login);
    return login !== undefined;
  });
  if (apps.length === 0)
    throw new CommandError('No app is given. Set <APP>_DATABASE_URL, such as PERKS_DATABASE_URL.');
  if (apps.includes('analytics-query')) {
    const reader = readLogin('READER_DATABASE_URL', READER_ROLE);
    if (!reader)
      throw new CommandError('READER_DATABASE_URL is missing. analytics-query needs it for its second role.');
    logins.push(reader);
  }
  const databases = new Set(logins.map(({ database }) => database));
  if (databases.size > 1)
    throw new CommandError(
      `All URLs must name the same database, but they name ${[...databases].join(' and ')}.`,
    );
  return { apps, logins };
}

await runCommand(async () => {
  readCommandLine(USAGE, {});
  const adminUrl = readVariable('DATABASE_ADMIN_URL');
  if (!adminUrl) throw new CommandError('DATABASE_ADMIN_URL is missing.');
  const { apps, logins } = readLogins();
  const passwords = new Map(logins.map(({ role, password }) => [role, password]));
  const options = { database: logins[0]!.database, apps, passwordOf: (role: string) => passwords.get(role)! };
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    const error = await provisionDatabase(adminUrl, options).then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason,
    );
    if (!error) break;
    if (!NOT_YET.includes(error.code ?? '') || Date.now() > deadline) throw error;
    await sleep(PAUSE_MS);
  }
  process.stdout.write(`${JSON.stringify({ msg: 'provisioned', apps })}\n`);
});
