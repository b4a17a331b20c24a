import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  PostgresPair,
  promoteStandby,
  REPLICATING,
  setSynchronousStandbys,
  startPostgres,
  startPrimaryProxy,
  startStandby,
  takeBaseBackup,
  type LocalServer,
  type PrimaryProxy,
} from '../src/index.js';

let folder: string;
let primary: LocalServer;
const started: LocalServer[] = [];
const proxies: PrimaryProxy[] = [];

const options = (name: string) => ({
  port: 0,
  dataDir: join(folder, name),
  durable: false,
  logFile: join(folder, `${name}.log`),
  dieWithParent: true,
  superuserPassword: `it's`,
});
async function standby(name: string) {
  const server = await startStandby({
    ...options(name),
    primary: { url: primary.url, dataDir: join(folder, 'primary') },
    name,
  });
  started.push(server);
  return server;
}
async function proxy(...servers: LocalServer[]) {
  const made = await startPrimaryProxy(servers.map(({ url }) => url));
  proxies.push(made);
  return made;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'perkway-standby-'));
  primary = await startPostgres({ ...options('primary'), settings: REPLICATING });
  started.push(primary);
  await query(primary.url, 'create table notes (id int primary key)');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(proxies.splice(0).map((each) => each.close()));
  await Promise.all(started.splice(0).map((server) => server.kill()));
  rmSync(folder, { recursive: true, force: true });
});

async function query(url: string, sql: string, limitMs = 20_000) {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: limitMs,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    void client.end().catch(() => {});
  }
}
const ids = async (url: string) => (await query(url, 'select id from notes order by id')).map(({ id }) => id);

/** Retries until it works, because clients reconnect after a cut. A write without a response may be there already. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 60_000; ;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(25);
    }
  }
}

describe('takeBaseBackup', () => {
  it('copies a cluster during writes, and leaves the server as it was', async () => {
    let isGoing = true;
    const writer = (async () => {
      for (let id = 0; isGoing; id += 1) await query(primary.url, `insert into notes values (${id})`);
    })();
    const backup = await takeBaseBackup({
      url: primary.url,
      from: join(folder, 'primary'),
      to: join(folder, 'copy'),
    });
    isGoing = false;
    await writer;
    expect(backup.startLsn).toMatch(/^\d+\/[0-9A-F]+$/);
    const [order] = await query(
      primary.url,
      `select '${backup.endLsn}'::pg_lsn > '${backup.startLsn}'::pg_lsn as later`,
    );
    expect(order).toEqual({ later: true });
    // A second backup works, so the first one was ended properly.
    await takeBaseBackup({ url: primary.url, from: join(folder, 'primary'), to: join(folder, 'other') });
  });
});

describe('a synchronous standby', () => {
  it('has every acknowledged write when the primary dies, and takes over at the same address', async () => {
    const second = await standby('second');
    await setSynchronousStandbys(primary.url, ['second']);
    const front = await proxy(primary, second);
    const url = front.through(primary.url);

    const acknowledged: number[] = [];
    let isGoing = true;
    const writer = (async () => {
      for (let id = 0; isGoing; id += 1) {
        try {
          await query(url, `insert into notes values (${id})`);
          acknowledged.push(id);
        } catch {
          await sleep(10);
        }
      }
    })();
    await again(async () => expect(acknowledged.length).toBeGreaterThan(20));
    await primary.kill();
    front.fence();
    await promoteStandby(second.url);
    const before = acknowledged.length;
    await again(async () => expect(acknowledged.length).toBeGreaterThan(before + 20));
    isGoing = false;
    await writer;
    expect(await ids(second.url)).toEqual(expect.arrayContaining(acknowledged));
  });

  it('is named if it does not become synchronous', async () => {
    let now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => (now += 20_000));
    await expect(setSynchronousStandbys(primary.url, ['nobody'])).rejects.toThrow(
      `synchronous_standby_names = 'ANY 1 ("nobody")' has not taken effect yet`,
    );
  });

  it('blocks commits while it is down', async () => {
    const second = await standby('second');
    await setSynchronousStandbys(primary.url, ['second']);
    await second.kill();
    await expect(query(primary.url, 'insert into notes values (1)', 2_000)).rejects.toThrow();
    await setSynchronousStandbys(primary.url, []);
    await query(primary.url, 'insert into notes values (2)');
  });
});

describe('PostgresPair', () => {
  it('loses writes at a failover after the standby was cut off, and recovers as a pair', async () => {
    const pair = await PostgresPair.start({
      folder: join(folder, 'pair'),
      durable: false,
      dieWithParent: true,
    });
    try {
      const insert = (id: number) =>
        again(() => query(pair.url, `insert into notes values (${id}) on conflict do nothing`));
      await again(() => query(pair.url, 'create table if not exists notes (id int primary key)'));
      await insert(1);
      await pair.cutOffStandby();
      await insert(2);
      await pair.primary.kill();
      await pair.failOver();
      await insert(3);
      expect(await again(() => ids(pair.url))).toEqual([1, 3]);
      await pair.rejoin();
      await insert(4);
      // A commit waits until the standby has the write, not until it shows it.
      await again(async () => expect(await ids(pair.standby.url)).toEqual([1, 3, 4]));
    } finally {
      await pair.close();
    }
  });
});

describe('startPrimaryProxy', () => {
  it('refuses an old primary that comes back', async () => {
    const second = await standby('second');
    const front = await proxy(primary, second);
    const url = front.through(primary.url);
    const held = await again(async () => {
      const client = new pg.Client(url);
      client.on('error', () => {});
      await client.connect();
      return client;
    });
    await held.query('insert into notes values (1)');

    primary.pause();
    front.fence();
    await promoteStandby(second.url);
    primary.resume();
    await expect(held.query('insert into notes values (2)')).rejects.toThrow();
    await again(() => query(url, 'insert into notes values (3) on conflict do nothing'));
    expect(await ids(second.url)).toEqual([1, 3]);
    expect(await ids(primary.url)).toEqual([1]);

    await second.kill();
    // The old primary responds to direct connections, but not through the proxy.
    await query(primary.url, 'select 1');
    for (let times = 0; times < 10; times += 1) {
      await expect(query(url, 'select 1')).rejects.toThrow();
      await sleep(25);
    }
  });

  it('reconnects to the same primary after a crash', async () => {
    const front = await proxy(primary);
    const url = front.through(primary.url);
    await again(() => query(url, 'insert into notes values (1) on conflict do nothing'));
    await primary.kill();
    await expect(query(url, 'select 1')).rejects.toThrow();
    await primary.restart();
    expect(await again(() => ids(url))).toEqual([1]);
  });
});
