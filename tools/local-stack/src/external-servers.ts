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

/** Refuses a `DATABASE_URL` that nobody answers or whose user may not make roles. */
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
      `DATABASE_URL cannot be used (${(error as Error).message}): give the URL of a superuser on a Postgres that runs, or leave it out.`,
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

/** Refuses a `NATS_URL` of which no server answers, that lets us not in, or that has no JetStream. */
export async function checkNats(url: string): Promise<void> {
  const asked = parseBrokerUrl(url).servers.map((server) => {
    const { hostname, port } = new URL(`nats://${server}`);
    return readNatsInfo(hostname, Number(port), TIMEOUT_MS);
  });
  const answered = (await Promise.all(asked)).filter((info) => info !== undefined);
  if (answered.length === 0)
    throw new StackError(
      'NATS_URL cannot be used (no NATS server answers): start that server, or leave it out.',
    );
  if (!answered.every(({ jetstream }) => jetstream))
    throw new StackError(
      'NATS_URL cannot be used (that server has no JetStream): start it with -js, or leave it out.',
    );
  try {
    await withBroker(url, async () => undefined);
  } catch (error) {
    throw new StackError(
      `NATS_URL cannot be used (${(error as Error).message}): give the URL of a user who may do everything, or leave it out.`,
      { cause: error },
    );
  }
}

/** Empties the schemas of all apps. */
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

/** Removes the streams of the fleet with all that waits in them. */
export async function dropStreams(url: string): Promise<void> {
  await withBroker(url, async (connection) => {
    const manager = await jetstreamManager(connection);
    for await (const { config } of manager.streams.list())
      if ([TRACKING_STREAM, TRACKING_DEAD_STREAM, FORMER_TRACKING_STREAM].includes(config.name))
        await manager.streams.delete(config.name);
  });
}
