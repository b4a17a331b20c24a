import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import {
  commandLineOf,
  findNatsServer,
  freePort,
  freePorts,
  isAlive,
  isPortFree,
  readNatsInfo,
  startNats,
  startPostgres,
  type LocalServer,
} from '../src/index.js';

let folder: string;
const started: LocalServer[] = [];
const track = async (server: Promise<LocalServer>) => {
  started.push(await server);
  return server;
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perkway-servers-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
  rmSync(folder, { recursive: true, force: true });
});

const postgres = (options: Partial<Parameters<typeof startPostgres>[0]> = {}) =>
  track(
    startPostgres({
      port: 0,
      dataDir: join(folder, 'postgres'),
      durable: false,
      logFile: join(folder, 'postgres.log'),
      dieWithParent: true,
      ...options,
    }),
  );
const nats = (options: Partial<Parameters<typeof startNats>[0]> = {}) =>
  track(
    startNats({
      port: 0,
      storeDir: join(folder, 'nats'),
      logFile: join(folder, 'nats.log'),
      dieWithParent: true,
      ...options,
    }),
  );

async function query(url: string, sql: string) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function busyPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

describe('startPostgres', () => {
  it('keeps its data, port and password after a crash and a restart', async () => {
    const server = await postgres({ durable: true, superuserPassword: 'a word/with %' });
    const { url, pid, port } = server;
    await query(url, 'create table fruits as select 1 as id');

    await server.kill();
    expect(isAlive(pid)).toBe(false);
    expect(await isPortFree(port)).toBe(true);
    await server.start();
    expect(server.pid).not.toBe(pid);
    expect(server.url).toBe(url);
    expect(await query(url, 'select id from fruits')).toEqual([{ id: 1 }]);

    await server.restart();
    expect(await query(url, 'select id from fruits')).toEqual([{ id: 1 }]);
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.toString(), 'select 1')).rejects.toThrow(/password authentication failed/);
  });

  it('starts even if the pid file names an unrelated program', async () => {
    const server = await postgres();
    await server.kill();
    const file = join(folder, 'postgres', 'postmaster.pid');
    writeFileSync(file, `${process.pid}\n${join(folder, 'postgres')}\n1\n1\n\n127.0.0.1\n0 0\nready\n`);
    await server.start();
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('refuses a data folder that another server uses', async () => {
    const server = await postgres();
    await expect(postgres()).rejects.toThrow(`a Postgres (pid ${server.pid}) is already running on`);
  });

  it("sorts and folds strings by Unicode whatever the machine's locale", async () => {
    const server = await postgres();
    expect(
      await query(server.url, "select lower('ÄÉ') as folded, current_setting('TimeZone') as zone"),
    ).toEqual([{ folded: 'äé', zone: 'UTC' }]);
  });

  it('shows the end of the log if the port is taken', async () => {
    const busy = await busyPort();
    await expect(postgres({ port: busy.port })).rejects.toThrow(
      /Postgres did not start.*Address already in use/s,
    );
    busy.close();
  });

  it('leaves nothing behind if the cluster cannot be created', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(postgres({ dataDir: join(folder, 'file', 'data') })).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('freePort', () => {
  it('never returns a port twice, even before anything listens there', async () => {
    const ports = await Promise.all(Array.from({ length: 1_500 }, () => freePort()));
    const first = await freePorts(9);
    const all = [...ports, ...Array.from({ length: 9 }, (_, index) => first + index)];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('startNats', () => {
  it('keeps a stream after a crash and a restart', async () => {
    const server = await nats();
    const publish = async () => {
      const connection = await connect({ servers: server.url });
      await (await jetstreamManager(connection)).streams.add({ name: 'S', subjects: ['s'] });
      const { seq } = await jetstream(connection).publish('s', 'hello');
      await connection.close();
      return seq;
    };
    expect(await publish()).toBe(1);
    await server.kill();
    expect(await isPortFree(server.port)).toBe(true);
    await server.start();
    expect(await publish()).toBe(2);
    await server.restart();
    expect(await publish()).toBe(3);
  });

  it('offers 10 GB for streams however much of the disk is free', async () => {
    const connection = await connect({ servers: (await nats()).url });
    try {
      const { streams } = await jetstreamManager(connection);
      await streams.add({ name: 'FITS', subjects: ['fits'], max_bytes: 9_000_000_000 });
      await expect(
        streams.add({ name: 'TOO_MUCH', subjects: ['too-much'], max_bytes: 2_000_000_000 }),
      ).rejects.toThrow('insufficient storage');
    } finally {
      await connection.close();
    }
  });

  it('can be paused, resumed, and stopped while paused', async () => {
    const server = await nats();
    server.pause();
    // A stop signal takes effect a moment after it was sent.
    while (await readNatsInfo('127.0.0.1', server.port, 200)) expect(server.running).toBe(true);
    server.resume();
    expect(await readNatsInfo('127.0.0.1', server.port, 20_000)).toMatchObject({ jetstream: true });
    server.pause();
    await server.stop();
    expect(server.running).toBe(false);
  });

  it('resolves `exited` when it ends', async () => {
    const server = await nats();
    process.kill(server.pid, 'SIGKILL');
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(server.running).toBe(false);
  });

  it('shows the end of the log if the port is taken', async () => {
    const busy = await busyPort();
    await expect(nats({ port: busy.port })).rejects.toThrow(
      /nats-server did not start.*address already in use/s,
    );
    busy.close();
  });
});

describe('a server with dieWithParent', () => {
  const script = `
    import { startNats } from ${JSON.stringify(resolve(__dirname, '../src/index.ts'))};
    const server = await startNats({
      port: 0, storeDir: process.argv[1], logFile: process.argv[1] + '.log', dieWithParent: true,
    });
    process.stdout.write(String(server.pid));
  `;
  const endsWithParent = async (path: string) => {
    const nodeOptions = ['--import', 'tsx', '--input-type=module', '-e', script, join(folder, 'nats')];
    const parent = spawn(process.execPath, nodeOptions, { env: { ...process.env, PATH: path } });
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    expect(isAlive(pid)).toBe(true);
    expect(await commandLineOf(pid)).toContain('nats-server.conf');
    parent.kill('SIGKILL');
    for (const deadline = Date.now() + 50_000; isAlive(pid) && Date.now() < deadline;) await sleep(20);
    expect(isAlive(pid)).toBe(false);
  };

  it('dies however its parent is killed', () => endsWithParent(process.env.PATH!));

  it('dies with its parent even without setpriv', async () => {
    const binary = await findNatsServer();
    for (const [name, file] of Object.entries({ sh: '/bin/sh', sleep: '/bin/sleep', 'nats-server': binary }))
      symlinkSync(file, join(folder, name));
    await endsWithParent(folder);
  });
});

describe('findNatsServer', () => {
  const saved = { ...process.env };
  afterEach(() => {
    for (const name of ['PATH', 'NATS_SERVER_BIN', 'XDG_CACHE_HOME']) process.env[name] = saved[name];
    if (!saved.NATS_SERVER_BIN) delete process.env.NATS_SERVER_BIN;
    if (!saved.XDG_CACHE_HOME) delete process.env.XDG_CACHE_HOME;
  });

  it('names the variable that points to no server', async () => {
    process.env.NATS_SERVER_BIN = '/nowhere/nats-server';
    await expect(findNatsServer()).rejects.toThrow(/^NATS_SERVER_BIN \(\/nowhere\/nats-server\) is not/);
  });

  it('says in one sentence how to get nats-server if it cannot be downloaded', async () => {
    delete process.env.NATS_SERVER_BIN;
    process.env.PATH = folder;
    process.env.XDG_CACHE_HOME = folder;
    const error = (await findNatsServer().catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toMatch(
      /^nats-server was not found .*apt-get.*: install nats-server .*NATS_SERVER_BIN/,
    );
    expect(error.message).not.toContain('\n');
  });

  it('uses the one in the cache folder', async () => {
    const binary = await findNatsServer();
    delete process.env.NATS_SERVER_BIN;
    process.env.PATH = folder;
    process.env.XDG_CACHE_HOME = folder;
    const cached = join(folder, 'perkway', 'nats-server');
    mkdirSync(join(folder, 'perkway'));
    symlinkSync(binary, cached);
    expect(await findNatsServer()).toBe(cached);
    expect(statSync(cached).isFile()).toBe(true);
  });
});
