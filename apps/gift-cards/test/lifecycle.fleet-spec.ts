import { ADVISORY_LOCKS } from '@perkway/domain';
import { freePort } from '@perkway/local-servers';
import {
  BundledApp,
  http,
  NodeProcess,
  testDatabase,
  testEnvironment,
  testNats,
  waitFor,
  type AppProcess,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { GiftCards, migrate } from './support.js';

jest.setTimeout(120_000);

/** Exit code that a shell reports for a process ended by SIGTERM. */
const TERMINATED = 143;

let bundle: BundledApp;
let nats: TestNats;
const processes: NodeProcess[] = [];
const databases: TestDatabase[] = [];
beforeAll(async () => {
  [bundle, nats] = await Promise.all([BundledApp.build('gift-cards'), testNats()]);
});
afterEach(() => Promise.all(processes.splice(0).map((each) => each.kill('SIGKILL'))));
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await nats?.close();
});

async function start(environment: Record<string, string>): Promise<AppProcess> {
  const app = await bundle.spawn({ ...environment, LOG_LEVEL: 'info' });
  processes.push(app);
  return app;
}
const isAlive = (app: AppProcess) => async () => (await http(app).get('/livez')).status === 200;
const readiness = async (app: AppProcess) => (await http(app).get('/readyz')).status;

/** Expects that the app is not ready and logs why. On a busy machine, a slow database may come first. */
async function expectNotReady(app: AppProcess, why: RegExp) {
  expect(await readiness(app)).toBe(503);
  await app.until(async () => (await readiness(app)) === 503 && why.test(app.output), `not ready: ${why}`);
}

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await testDatabase('gift-cards', async () => undefined, { template: 'gift-cards-empty' });
  databases.push(database);
  return database;
}

describe('a starting app', () => {
  it('listens without a database, logs why it is not ready, and stops on SIGTERM', async () => {
    const app = await start(testEnvironment('gift-cards', { nats }));
    await app.until(isAlive(app), 'alive');
    await expectNotReady(app, /the database is unavailable \(.*ECONNREFUSED/);
    const { status, headers } = await http(app).get('/pools').set('x-api-key', 'k'.repeat(40));
    expect([status, headers['retry-after']]).toEqual([503, '2']);
    await app.kill('SIGTERM');
    expect(await app.ended).toBe(0);
    // All lines are JSON, so no package has reported that it misses another one.
    expect(app.output.split('\n').filter((line) => line && !line.startsWith('{'))).toEqual([]);
  });

  it('becomes ready once the newest migration has run, without a restart', async () => {
    const database = await emptyDatabase();
    const app = await start(testEnvironment('gift-cards', { nats, database }));
    await app.until(isAlive(app), 'alive');
    await expectNotReady(app, /not ready: the schema is behind \(it is empty\)/);
    await migrate(database.url);
    await app.ready();
    await waitFor(() => app.output.includes('the database is available'), 'the log line');
  });

  it('is ready on a newer schema, but not on one that lacks an earlier migration', async () => {
    const database = await emptyDatabase();
    await migrate(database.url);
    await database.query(
      `update migrations set name = 'Former' || name where name like 'ViewsAndFunctions%'`,
    );
    const old = await start(testEnvironment('gift-cards', { nats, database }));
    await old.until(async () => (await readiness(old)) === 200, 'ready');
    await database.query(`delete from migrations where name like 'CreateGiftCards%'`);
    const young = await start(testEnvironment('gift-cards', { nats, database }));
    await young.until(isAlive(young), 'alive');
    await expectNotReady(young, /lacks the migration CreateGiftCards1767225610000/);
    await old.until(async () => (await readiness(old)) === 200, 'still ready');
  });

  it('logs why the database refuses the connection', async () => {
    const database = await emptyDatabase();
    const environment = testEnvironment('gift-cards', { nats, database });
    const url = new URL(environment.DATABASE_URL!);
    url.username = 'nobody-of-this-name';
    const app = await start({ ...environment, DATABASE_URL: url.toString() });
    await app.until(isAlive(app), 'alive');
    await expectNotReady(app, /unavailable \(role \\"nobody-of-this-name\\" does not exist\)/);
    expect(app.output).not.toContain(url.password);
  });
});

describe('SIGTERM', () => {
  it.each([0, 50, 150, 300, 600])('stops an app %i ms after its start', async (ms) => {
    const app = await start(testEnvironment('gift-cards', { nats }));
    await new Promise((resolve) => setTimeout(resolve, ms));
    await app.kill('SIGTERM');
    // Before the first line of code runs, the signal itself ends the process.
    expect([0, TERMINATED, -1]).toContain(await app.ended);
    // On a busy machine, it runs long enough to warn once that it has no database.
    const others = app.output.split('\n').filter((line) => !line.includes('cannot read the tracking outbox'));
    expect(others.join('\n')).not.toContain('rror');
  });

  it('stops a migration that waits for another one, without applying anything', async () => {
    const database = await emptyDatabase();
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
    const job = new NodeProcess([bundle.path('migrate')], {
      env: testEnvironment('gift-cards', { nats, database }),
    });
    processes.push(job);
    await waitFor(
      async () => {
        const [waiting] = await database.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'gift-cards-migrate'
         and datname = current_database()`,
        );
        expect(waiting).toBeDefined();
      },
      'the wait for the lock',
      60_000,
    );
    await job.kill('SIGTERM');
    expect(await job.ended).toBe(TERMINATED);
    await other.end();
    expect(await database.query(`select from pg_class where relname = 'cards'`)).toEqual([]);
    await migrate(database.url);
  });

  it('lets keep-alive clients finish, tells them to reconnect, and accepts new connections meanwhile', async () => {
    const database = await emptyDatabase();
    await migrate(database.url);
    const app = await start({
      ...testEnvironment('gift-cards', { nats, database }),
      SHUTDOWN_DELAY_MS: '6000',
    });
    await app.until(async () => (await readiness(app)) === 200, 'ready');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = async (path: string, by: Agent | false = agent) => {
      const request = httpRequest(app.url + path, { agent: by }).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await text(response);
      return [response.statusCode, response.headers.connection];
    };
    await waitFor(async () => expect(await get('/readyz')).toEqual([200, 'keep-alive']), 'a connection');
    const ended = app.kill('SIGTERM');
    await waitFor(() => app.output.includes('"stopping"'), 'the drain');
    expect(await get('/readyz')).toEqual([503, 'close']);
    expect(await get('/livez', false)).toEqual([200, 'close']);
    expect(await get('/livez')).toEqual([200, 'close']);
    await ended;
    expect(await app.ended).toBe(0);
    agent.destroy();
  });

  it.each(['public', 'second'])(
    'ends an unfinished card load on the %s port with a response, and keeps what it has loaded',
    async (which) => {
      const gift = await GiftCards.start();
      try {
        const pool = await gift.aPool(0);
        const port = await freePort();
        const second = { METRICS_PORT: String(port), EXPOSE_ADMIN: 'false' };
        const app = await start({ ...gift.environment(), ...(which === 'second' ? second : {}) });
        const url = which === 'second' ? `http://127.0.0.1:${port}` : app.url;
        await app.until(async () => (await readiness(app)) === 200, 'ready');
        const loadId = randomUUID();
        const load = httpRequest(`${url}/admin/pools/${pool}/cards?loadId=${loadId}`, {
          method: 'POST',
          headers: { 'x-api-key': gift.admin.key, 'content-type': 'application/x-ndjson' },
        });
        const card = (code: number) =>
          `${JSON.stringify({ code: `drain-${code}`, denomination: 25, currency: 'EUR', country: 'FR' })}\n`;
        load.write(Array.from({ length: 5_000 }, (_, index) => card(index)).join(''));
        await waitFor(
          async () => {
            const { body } = await gift.get<{ imported: number }>(
              `/admin/pools/${pool}/loads/${loadId}`,
              gift.admin.key,
            );
            expect(body.imported).toBeGreaterThan(0);
          },
          'the first batch',
          60_000,
        );
        const responded = once(load, 'response') as Promise<[IncomingMessage]>;
        // The client keeps sending, even while the response arrives.
        let sent = 5_000;
        const sending = setInterval(() => load.write(card((sent += 1))), 20);
        load.on('close', () => clearInterval(sending));
        const ended = app.kill('SIGTERM');
        const [response] = await responded;
        expect(response.statusCode).toBe(503);
        expect(JSON.parse(await text(response))).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
        load.destroy();
        await ended;
        expect(await app.ended).toBe(0);
        expect(app.output).not.toContain('drain took too long');
        const [numbers] = await gift.numbers(pool);
        expect(numbers!.available).toBeGreaterThan(0);
      } finally {
        await gift.close();
      }
    },
  );
});
