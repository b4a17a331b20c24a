import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { APPS, FLEET, hasDatabase, rolePassword, type DatabaseUrls } from '@perkway/fleet';
import { provisionDatabase, startPostgres, type LocalServer } from '../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'perkway-provision-'));
const options = { database: 'perkway', passwordOf: rolePassword('top secret') };
const serverOptions = {
  port: 0,
  durable: false,
  superuserPassword: 'top secret',
  logFile: join(folder, 'postgres.log'),
  dieWithParent: true,
};
let server: LocalServer;
let urls: DatabaseUrls;

async function query(url: string, sql: string) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  server = await startPostgres({ ...serverOptions, dataDir: join(folder, 'data') });
  urls = await provisionDatabase(server.url, options);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('provisionDatabase', () => {
  it('gives each app a role that works in its own schema', async () => {
    for (const app of APPS.filter(hasDatabase)) {
      const { schema, role } = FLEET[app].database;
      const url = urls.apps[app];
      await query(url, `create table ${role}_things (id int)`);
      expect(await query(url, 'select current_user as role, current_schema() as schema')).toEqual([
        { role, schema },
      ]);
      expect(await query(urls.admin, `select * from ${schema}.${role}_things`)).toEqual([]);
    }
  });

  it("keeps every role out of every other app's schema and out of public", async () => {
    const apps = APPS.filter(hasDatabase);
    for (const app of apps) {
      for (const other of apps.filter((each) => each !== app)) {
        const { schema } = FLEET[other].database;
        await expect(query(urls.apps[app], `create table ${schema}.mine (id int)`)).rejects.toThrow(
          /permission denied for schema/,
        );
        await expect(query(urls.apps[app], `select * from ${schema}.anything`)).rejects.toThrow(
          /permission denied for schema/,
        );
      }
      await expect(query(urls.apps[app], 'create table public.mine (id int)')).rejects.toThrow(
        /permission denied for schema public/,
      );
    }
  });

  it('gives the reader no objects of its own, only read-only transactions', async () => {
    await query(urls.apps['analytics-query'], 'create table events (id int)');
    await expect(query(urls.reader, 'select * from events')).rejects.toThrow(
      /permission denied for schema|does not exist/,
    );
    await query(urls.apps['analytics-query'], 'grant usage on schema analytics to analytics_reader');
    await query(urls.apps['analytics-query'], 'grant select, insert on events to analytics_reader');
    expect(await query(urls.reader, 'select * from events')).toEqual([]);
    await expect(query(urls.reader, 'insert into events values (1)')).rejects.toThrow(
      /read-only transaction/,
    );
    expect(
      await query(
        urls.admin,
        "select rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = 'analytics_reader'",
      ),
    ).toEqual([
      { rolsuper: false, rolinherit: false, rolcreaterole: false, rolcreatedb: false, rolbypassrls: false },
    ]);
  });

  it('may run again and concurrently', async () => {
    await query(urls.apps.links, 'create table kept as select 7 as id');
    const again = await Promise.all([1, 2, 3, 4].map(() => provisionDatabase(server.url, options)));
    expect(again).toEqual([urls, urls, urls, urls]);
    const other = await provisionDatabase(server.url, { ...options, database: 'second' });
    expect(await query(urls.apps.links, 'select id from kept')).toEqual([{ id: 7 }]);
    await expect(query(other.apps.links, 'select id from kept')).rejects.toThrow(/does not exist/);
  });

  it('sets a new password', async () => {
    const changed = await provisionDatabase(server.url, { ...options, passwordOf: rolePassword('other') });
    await expect(query(urls.apps.perks, 'select 1')).rejects.toThrow(/password authentication failed/);
    expect(await query(changed.apps.perks, 'select 1 as one')).toEqual([{ one: 1 }]);
    urls = await provisionDatabase(server.url, options);
  });

  it('needs no superuser: an owner with CREATEROLE is enough, as in managed databases', async () => {
    const other = await startPostgres({ ...serverOptions, dataDir: join(folder, 'managed') });
    try {
      await query(other.url, `create role owner login createrole password 'owner'`);
      await query(other.url, 'create database managed owner owner');
      const adminUrl = Object.assign(new URL(other.url), {
        username: 'owner',
        password: 'owner',
        pathname: '/managed',
      });
      const managed = { ...options, database: 'managed' };
      const provisioned = await provisionDatabase(adminUrl.href, managed);
      expect(await provisionDatabase(adminUrl.href, managed)).toEqual(provisioned);
      for (const url of Object.values(provisioned.apps)) await query(url, 'create table things (id int)');
      // It created the schemas but has no access to them.
      await expect(query(adminUrl.href, 'select * from catalog.things')).rejects.toThrow(/permission denied/);
      expect(await query(provisioned.reader, 'show transaction_read_only')).toEqual([
        { transaction_read_only: 'on' },
      ]);
    } finally {
      await other.stop();
    }
  });

  it('provisions a single app on a server of its own', async () => {
    const moved = { ...options, database: 'moved', apps: ['gift-cards' as const] };
    const { apps, admin } = await provisionDatabase(server.url, moved);
    await query(apps['gift-cards'], 'create table things (id int)');
    const schemas = await query(
      admin,
      `select nspname from pg_namespace where nspname in ('gift_cards', 'catalog')`,
    );
    expect(schemas).toEqual([{ nspname: 'gift_cards' }]);
  });

  it('reports a role that the user may not create', async () => {
    await expect(provisionDatabase(urls.apps.perks, options)).rejects.toThrow(
      /^cannot create or configure the role \w+: permission denied/,
    );
  });
});
