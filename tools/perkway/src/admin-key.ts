import { generateApiKey, hashApiKey } from '@perkway/auth/api-keys';
import { readCommandLine } from '@perkway/command-line';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { CommandError, readVariable, runCommand } from './read-variable.js';

const USAGE = `perkway admin-key [--name <name>]

Creates an ADMIN key of the account platform and prints it once. It needs DATABASE_URL and API_KEY_PEPPER of token-issuer, but no
key: use it when every ADMIN key is lost or revoked. In a checkout: npm run admin-key.

  --name <name>  name of the key; default: perkway admin-key`;

const TIMEOUT_MS = 10_000;
const MAX_NAME = 200;
const UNDEFINED_TABLE = '42P01';

const INSERT = `
  with platform as (insert into accounts (id, name) values ('platform', 'Platform') on conflict do nothing)
  insert into api_keys (id, account_id, role, name, hash, last4) values ($1, 'platform', 'ADMIN', $2, $3, $4)`;

function required(name: string): string {
  const value = readVariable(name);
  if (!value) throw new CommandError(`${name} is missing. Set the value of token-issuer.`);
  return value;
}

async function store(databaseUrl: string, parameters: string[]): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  await client.connect();
  try {
    await client.query(INSERT, parameters);
  } catch (error) {
    if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
    throw new CommandError('The database has no table of keys. Run the migrations of token-issuer first.');
  } finally {
    await client.end();
  }
}

await runCommand(async () => {
  const { values } = readCommandLine(USAGE, {
    options: { name: { type: 'string', default: 'perkway admin-key' } },
  });
  if (values.name.length === 0 || values.name.length > MAX_NAME)
    throw new CommandError('`--name` must have 1 to 200 characters.');
  const databaseUrl = required('DATABASE_URL');
  const pepper = required('API_KEY_PEPPER');
  const key = generateApiKey();
  await store(databaseUrl, [randomUUID(), values.name, hashApiKey(pepper, key), key.slice(-4)]);
  process.stdout.write(`${key}\n`);
});
