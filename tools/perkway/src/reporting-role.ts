/**
 * `perkway reporting-role <account> [--file <file>] [--drop]`: a role that a BI tool logs in as, which reads that account's
 * rows through the views of the schema `reporting` and nothing else. Called again it gives a new password. The database is
 * that of DATABASE_ADMIN_URL, provisioned and migrated; the rights that `perkway provision` needs are enough.
 */
import { isCallerId, REPORTING } from '@perkway/domain';
import { FLEET } from '@perkway/fleet';
import { actingAs, withAdminClient } from '@perkway/local-servers';
import { writeFileSync } from 'node:fs';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { CommandError, readVariable, runCommand } from './read-variable.js';

const OWNER = FLEET['analytics-query'].database.role;
/** Names are seen by everybody on the server, so they say nothing of the account. */
const newName = (): string => `reporting_${randomBytes(6).toString('hex')}`;

/** What the server keeps of a password (RFC 5803), made here so that the password is in no statement and no log of it. */
function verifierOf(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (name: string) => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const server = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${server}`;
}

async function roleOf(client: pg.Client, account: string): Promise<string | undefined> {
  // From the catalogue, because whoever provisions may not look into the schemas.
  const { rows: found } = await client.query<{ there: boolean }>(
    `select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname || '.' || c.relname = $1) as there`,
    [REPORTING.roles],
  );
  if (!found[0]!.there)
    throw new CommandError(
      'This database has no views for reporting yet: run `perkway provision`, then the migrations of analytics-query.',
    );
  return actingAs(client, OWNER, async () => {
    const { rows } = await client.query<{ role: string }>(
      `select role from ${REPORTING.roles} where account_id = $1`,
      [account],
    );
    return rows[0]?.role;
  });
}

/** The one thing that any role may write. Only a superuser can forbid it, and nothing here has a use for it. */
async function forbidLargeObjects(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ super: boolean }>(
    'select rolsuper as super from pg_roles where rolname = current_user',
  );
  if (rows[0]!.super)
    await client.query(
      'revoke execute on function lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea) from public',
    );
}

/** @returns the name of the role, whose rights and settings are as they should be */
async function make(client: pg.Client, account: string, password: string): Promise<string> {
  const known = await roleOf(client, account);
  const role = known ?? newName();
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
  if (rowCount === 0) await client.query(`create role ${role} login inherit`);
  await client.query(
    `alter role ${role} connection limit ${REPORTING.connections} password '${verifierOf(password)}'`,
  );
  // Those that the role has changed for itself too.
  await client.query(`alter role ${role} reset all`);
  for (const setting of [
    `search_path = ${REPORTING.schema}`,
    `statement_timeout = ${REPORTING.statementTimeoutMs}`,
    `idle_in_transaction_session_timeout = ${REPORTING.statementTimeoutMs}`,
    'default_transaction_read_only = on',
    // Pages of the covering index cost little out of order.
    'random_page_cost = 1.1',
  ])
    await client.query(`alter role ${role} set ${setting}`);
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  await client.query(`grant connect on database ${client.escapeIdentifier(rows[0]!.name)} to ${role}`);
  await client.query(`grant ${REPORTING.group} to ${role} with inherit true, set false`);
  // So that the app may end what runs too long.
  await client.query(`grant ${role} to ${OWNER} with inherit true, set false`);
  await forbidLargeObjects(client);
  if (!known)
    await actingAs(client, OWNER, () =>
      client.query(`insert into ${REPORTING.roles} (account_id, role) values ($1, $2)`, [account, role]),
    );
  return role;
}

/** @returns whether there was one */
async function drop(client: pg.Client, account: string): Promise<boolean> {
  const role = await roleOf(client, account);
  if (role === undefined) return false;
  await actingAs(client, OWNER, () =>
    client.query(`delete from ${REPORTING.roles} where account_id = $1`, [account]),
  );
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
  if (rowCount === 0) return true;
  await client.query(`alter role ${role} nologin`);
  await actingAs(client, role, async () => {
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);
    await client.query(`drop owned by ${role}`);
  });
  await client.query(`drop role ${role}`);
  return true;
}

await runCommand(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { drop: { type: 'boolean', default: false }, file: { type: 'string' } },
  });
  const [account] = positionals;
  if (!account || positionals.length > 1 || !isCallerId(account))
    throw new CommandError('Of which account? perkway reporting-role <account> [--file <file>] [--drop]');
  const adminUrl = readVariable('DATABASE_ADMIN_URL');
  if (!adminUrl) throw new CommandError('DATABASE_ADMIN_URL is missing.');
  await withAdminClient(adminUrl, async (client) => {
    // One at a time, and all or nothing.
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtextextended('${REPORTING.roles}', 0))`);
    if (values.drop) {
      const dropped = await drop(client, account);
      await client.query('commit');
      process.stdout.write(dropped ? 'The role is gone.\n' : 'There was none.\n');
      return;
    }
    const password = randomBytes(24).toString('base64url');
    const role = await make(client, account, password);
    const url = new URL(adminUrl);
    [url.username, url.password] = [role, password];
    // Written before the role is there: a password that nobody got would be of no use.
    if (values.file) writeFileSync(values.file, `${url.href}\n`, { mode: 0o600, flag: 'wx' });
    await client.query('commit');
    process.stdout.write(values.file ? `Written to ${values.file}.\n` : `${url.href}\n`);
  });
});
