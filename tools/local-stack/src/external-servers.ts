import { jetstreamManager } from '@nats-io/jetstream';
import {
  FORMER_TRACKING_STREAM,
  parseBrokerUrl,
  TRACKING_DEAD_STREAM,
  TRACKING_STREAM,
} from '@perkway/domain';
import { APPS, FLEET, hasDatabase } from '@perkway/fleet';
import { readNatsInfo, withBroker } from '@perkway/local-servers';
import pg from 'pg';
import { StackError } from './settings.js';

const TIMEOUT_MS = 5_000;

/** Throws if `DATABASE_URL` is unreachable or its user is not a superuser. */
export async function checkDatabase(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  let isSuperuser: boolean;
  try {
    await client.connect();
    const { rows } = await client.query('select rolsuper from pg_roles where rolname = current_user');
    isSuperuser = rows[0].rolsuper;
  } catch (error) {
    throw new StackError(
      `Cannot use DATABASE_URL (${(error as Error).message}). Give the URL of a superuser on a running Postgres, or leave it out.`,
      { cause: error },
    );
  } finally {
    await client.end().catch(() => {});
  }
  if (!isSuperuser)
    throw new StackError(
      'DATABASE_URL must be the URL of a superuser, because each app gets a role of its own.',
    );
}

/** Throws if no server of `NATS_URL` responds, if it refuses the user, or if it has no JetStream. */
export async function checkNats(url: string): Promise<void> {
  const requested = parseBrokerUrl(url).servers.map((server) => {
    const { hostname, port } = new URL(`nats://${server}`);
    return readNatsInfo(hostname, Number(port), TIMEOUT_MS);
  });
  const brokers = (await Promise.all(requested)).filter((info) => info !== undefined);
  if (brokers.length === 0)
    throw new StackError(
      'Cannot use NATS_URL (no NATS server responds). Start that server, or leave it out.',
    );
  if (!brokers.every(({ jetstream }) => jetstream))
    throw new StackError(
      'Cannot use NATS_URL (that server has no JetStream). Start it with -js, or leave it out.',
    );
  try {
    await withBroker(url, async () => undefined);
  } catch (error) {
    throw new StackError(
      `Cannot use NATS_URL (${(error as Error).message}). Give the URL of a user with all permissions, or leave it out.`,
      { cause: error },
    );
  }
}

/** Drops the schemas of all apps. */
export async function dropSchemas(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS });
  await client.connect();
  try {
    for (const { schema } of APPS.filter(hasDatabase).map((app) => FLEET[app].database))
      await client.query(`drop schema if exists ${client.escapeIdentifier(schema)} cascade`);
  } finally {
    await client.end();
  }
}

/** Deletes the fleet's streams with all their messages. */
export async function dropStreams(url: string): Promise<void> {
  await withBroker(url, async (connection) => {
    const manager = await jetstreamManager(connection);
    for await (const { config } of manager.streams.list())
      if ([TRACKING_STREAM, TRACKING_DEAD_STREAM, FORMER_TRACKING_STREAM].includes(config.name))
        await manager.streams.delete(config.name);
  });
}
