import { isAlive } from '@perkway/local-servers';
import pg from 'pg';
import { testDatabase, testDatabaseServer, testEnvironment, testNats, testSecrets } from '../src/index.js';

let migrations = 0;
async function migrate(url: string) {
  migrations += 1;
  const client = new pg.Client(url);
  await client.connect();
  await client.query('create table fruits (name text primary key)');
  await client.query("insert into fruits values ('apple')");
  await client.end();
}
const template = { template: 'testing-spec' };

async function as<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('testDatabase', () => {
  it('gives each caller a clone of a template that is migrated once', async () => {
    const databases = await Promise.all([1, 2, 3].map(() => testDatabase('perks', migrate, template)));
    try {
      expect(migrations).toBe(1);
      await databases[0]!.query("insert into fruits values ('pear')");
      expect(await databases[0]!.query('select name from fruits order by 1')).toEqual([
        { name: 'apple' },
        { name: 'pear' },
      ]);
      expect(await as(databases[1]!.url, 'select name from fruits')).toEqual([{ name: 'apple' }]);
    } finally {
      await Promise.all(databases.map((database) => database.close()));
    }
  });

  it('drops the database even while somebody is connected', async () => {
    const database = await testDatabase('perks', migrate, template);
    const client = new pg.Client(database.url);
    client.on('error', () => {});
    await client.connect();
    await database.close();
    await expect(as(database.url, 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('leaves no half-made template behind when a migration fails', async () => {
    const failing = { template: 'testing-spec-failing' };
    const broken = async () => Promise.reject(new Error('no such migration'));
    await expect(testDatabase('perks', broken, failing)).rejects.toThrow('no such migration');
    const database = await testDatabase('perks', migrate, failing);
    expect(await database.query('select name from fruits')).toEqual([{ name: 'apple' }]);
    await database.close();
  });

  it('on a server of its own survives a crash of that server', async () => {
    const database = await testDatabaseServer('links', migrate);
    try {
      await database.server.kill();
      await expect(as(database.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
      await database.server.start();
      expect(await as(database.url, 'select name from fruits')).toEqual([{ name: 'apple' }]);
    } finally {
      await database.close();
    }
    expect(database.server.running).toBe(false);
  });
});

describe('testNats', () => {
  it('gives each caller its own server, which is gone after close', async () => {
    const [one, two] = await Promise.all([testNats(), testNats()]);
    expect(one.url).not.toBe(two.url);
    const pids = [one.server.pid, two.server.pid];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await Promise.all([one.close(), two.close()]);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });
});

describe('testEnvironment', () => {
  it('shares its secrets between the apps of a test file', () => {
    const perks = testEnvironment('perks', {});
    const links = testEnvironment('links', { nats: { url: 'nats://127.0.0.1:1' } });
    expect(perks.LINK_SIGNING_KEYS).toBe(testSecrets().linkSigningKeys);
    expect(links.LINK_SIGNING_KEYS).toBe(perks.LINK_SIGNING_KEYS);
    expect(links.NATS_URL).toMatch(/^nats:\/\/links:[^@]+@127\.0\.0\.1:1$/);
  });
});
