import { readCommandLine } from '@perkway/command-line';
import { isCallerId, REPORTING } from '@perkway/domain';
import { FLEET } from '@perkway/fleet';
import { actingAs, withAdminClient } from '@perkway/local-servers';
import { writeFileSync } from 'node:fs';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { CommandError, readVariable, runCommand } from './read-variable.js';

const USAGE = `perkway reporting-role <account> [--file <file>] [--drop]

Creates a database role for a BI tool and prints its URL. The role reads only the account's rows, through the views of the schema
reporting. Repeat the command to set a new password. DATABASE_ADMIN_URL must name the provisioned and migrated database, with the
rights that perkway provision needs. In a checkout: npm run reporting-role -- <account>.

  --file <file>  writes the URL to a new file instead
  --drop         drops the role`;

const OWNER = FLEET['analytics-query'].database.role;
/** Random, because everybody on the server can see role names. */
const newName = (): string => `reporting_${randomBytes(6).toString('hex')}`;

/**
 * Computes the SCRAM verifier that the server stores (RFC 5803), so that the password is in no statement and no server
 * log.
 */
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
  // Looked up in pg_class, because the provisioning user may lack access to the schemas.
  const { rows: found } = await client.query<{ there: boolean }>(
    `select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname || '.' || c.relname = $1) as there`,
    [REPORTING.roles],
  );
  if (!found[0]!.there)
    throw new CommandError(
      'This database has no reporting views yet. Run `perkway provision`, then the migrations of analytics-query.',
    );
  return actingAs(client, OWNER, async () => {
    const { rows } = await client.query<{ role: string }>(
      `select role from ${REPORTING.roles} where account_id = $1`,
      [account],
    );
    return rows[0]?.role;
  });
}

async function isSuperuser(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ super: boolean }>(
    'select rolsuper as super from pg_roles where rolname = current_user',
  );
  return rows[0]!.super;
}

/**
 * Limits temporary files, and revokes what any role may write by default: large objects, and messages in the WAL. Only a
 * superuser can.
 */
async function limitWrites(client: pg.Client, role: string): Promise<void> {
  await client.query(`alter role ${role} set temp_file_limit = '${REPORTING.tempFileLimit}'`);
  const { rows: functions } = await client.query<{ name: string }>(
    `select p.oid::regprocedure as name from pg_proc p
     where p.pronamespace = 'pg_catalog'::regnamespace
       and p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message')`,
  );
  for (const { name } of functions) await client.query(`revoke execute on function ${name} from public`);
}

/**
 * Revokes the default right to connect to other databases. Only their owner can; in databases of other owners,
 * `ReportingGuard` ends the sessions.
 */
async function closeOtherDatabases(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database
     where datname <> current_database() and datallowconn and pg_has_role(datdba, 'usage')`,
  );
  for (const { name } of rows)
    await client.query(`revoke connect, temporary on database ${client.escapeIdentifier(name)} from public`);
}

/** Creates the role, or resets the rights and settings of an existing one. @returns its name */
async function createOrReset(client: pg.Client, account: string, password: string): Promise<string> {
  const known = await roleOf(client, account);
  const role = known ?? newName();
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
  if (rowCount === 0) await client.query(`create role ${role} login inherit`);
  await client.query(
    `alter role ${role} connection limit ${REPORTING.connections} password '${verifierOf(password)}'`,
  );
  // Including settings that the role changed itself.
  await client.query(`alter role ${role} reset all`);
  for (const setting of [
    `search_path = ${REPORTING.schema}`,
    `statement_timeout = ${REPORTING.statementTimeoutMs}`,
    `idle_in_transaction_session_timeout = ${REPORTING.statementTimeoutMs}`,
    'default_transaction_read_only = on',
    // Random reads of the covering index are cheap.
    'random_page_cost = 1.1',
  ])
    await client.query(`alter role ${role} set ${setting}`);
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  await client.query(`grant connect on database ${client.escapeIdentifier(rows[0]!.name)} to ${role}`);
  await client.query(`grant ${REPORTING.group} to ${role} with inherit true, set false`);
  // Lets the app terminate queries that run too long.
  await client.query(`grant ${role} to ${OWNER} with inherit true, set false`);
  if (await isSuperuser(client)) await limitWrites(client, role);
  await closeOtherDatabases(client);
  if (!known)
    await actingAs(client, OWNER, () =>
      client.query(`insert into ${REPORTING.roles} (account_id, role) values ($1, $2)`, [account, role]),
    );
  return role;
}

/** @returns whether the role existed */
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
  const { positionals, values } = readCommandLine(USAGE, {
    allowPositionals: true,
    options: { drop: { type: 'boolean', default: false }, file: { type: 'string' } },
  });
  const [account] = positionals;
  if (!account || positionals.length > 1 || !isCallerId(account))
    throw new CommandError('Give one account: perkway reporting-role <account> [--file <file>] [--drop]');
  const adminUrl = readVariable('DATABASE_ADMIN_URL');
  if (!adminUrl) throw new CommandError('DATABASE_ADMIN_URL is missing.');
  await withAdminClient(adminUrl, async (client) => {
    // A lock and a transaction: one run at a time, and all or nothing.
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtextextended('${REPORTING.roles}', 0))`);
    if (values.drop) {
      const dropped = await drop(client, account);
      await client.query('commit');
      process.stdout.write(dropped ? 'The role was dropped.\n' : 'The account has no role.\n');
      return;
    }
    const password = randomBytes(24).toString('base64url');
    const role = await createOrReset(client, account, password);
    const url = new URL(adminUrl);
    [url.username, url.password] = [role, password];
    // Written before the commit, because a role with a lost password is useless.
    if (values.file) writeFileSync(values.file, `${url.href}\n`, { mode: 0o600, flag: 'wx' });
    await client.query('commit');
    process.stdout.write(values.file ? `Written to ${values.file}.\n` : `${url.href}\n`);
    // Not to standard output, where scripts read the URL.
    if (!(await isSuperuser(client)))
      process.stderr.write(
        `Until a superuser runs the SQL of docs/bi-tools.md for ${role}, this role can use other databases for seconds, and write temporary files, large objects and WAL messages without limit.\n`,
      );
  });
});
