import { freePort } from '@perkway/local-servers';
import { runNode } from '@perkway/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { adminUrl, backUpDatabase, keepBroker, replay, restoreVolumes } from '../../src/backup.js';
import { ComposeStack } from '../../src/compose-stack.js';
import { DEMO_ACCOUNT as account, loadCards } from '../../src/demo-account.js';
import { buildPrevious } from '../../src/images.js';
import { counted, Load } from '../../src/load.js';
import { Pooler } from '../../src/pooler.js';
import { appOfHost } from '../public-paths.js';
import { engine, VERSION } from './engine.js';

const PREVIOUS = 'previous';
/** CI has other things to do: no way back under load, no pooler. */
const SHORT = Boolean(process.env.CI);
/** Seconds: SHUTDOWN_DELAY_MS of the image, the drain, and a busy machine. */
const STOP_LIMIT = 18;
const MOST_CARDS = 20_000;
const MORE_CARDS = 5_000;
/** Of docker/pooler/pgbouncer.ini, for each role. */
const POOL_SIZE = 8;

const APPS = [...appOfHost.values()];
const secrets = mkdtempSync(join(tmpdir(), 'perkway-secrets-'));
const newStack = async (name: string): Promise<ComposeStack> =>
  new ComposeStack(await engine(), {
    project: `perkway-${name}-${process.pid}`,
    version: VERSION,
    port: await freePort(),
    secrets,
  });

let stack: ComposeStack;
beforeAll(async () => {
  stack = await newStack('test');
  await stack.makeSecrets();
});
afterAll(async () => {
  await stack?.down();
  rmSync(secrets, { recursive: true, force: true });
});

/** How long `docker stop` takes, and how the process ended. */
async function stop(container: string): Promise<{ seconds: number; code: number }> {
  const started = Date.now();
  await stack.engine.docker(['stop', '--time', '30', container]);
  const code = await stack.engine.docker(['inspect', '--format', '{{.State.ExitCode}}', container]);
  await stack.engine.docker(['rm', container]);
  return { seconds: (Date.now() - started) / 1000, code: Number(code) };
}

/** One more container of a service, in the background. */
const run = async (of: ComposeStack, service: string, ...options: string[]): Promise<string> =>
  (await of.compose(['run', '--detach', '--no-deps', ...options, service])).trim().split('\n').at(-1)!;

async function until(what: string, condition: () => Promise<boolean>, limitMs = 60_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(200);
  }
}

describe('the stack', () => {
  it('comes up from nothing and counts a whole journey through the names of the proxy', async () => {
    await stack.up();
    await stack.compose(['--profile', 'demo', 'up', '--no-build', '--exit-code-from', 'demo', 'demo']);
    const [demo] = await stack.containers('demo');
    expect(await stack.logs(demo!.Id, 200)).toMatch(/counted/i);
    expect(demo!.State.ExitCode).toBe(0);
    // Seven apps and six migrations start at once.
  }, 900_000);

  it('has read-only roots, no capabilities and limits', async () => {
    for (const container of await stack.containers()) {
      const { HostConfig, Name } = container as unknown as {
        Name: string;
        HostConfig: { ReadonlyRootfs: boolean; CapDrop: string[]; PidsLimit: number };
      };
      expect({ Name, ...HostConfig }).toMatchObject({
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        PidsLimit: 200,
      });
    }
  });

  it.each([...appOfHost.keys()])('shows neither metrics nor management nor documents of %s', async (host) => {
    for (const path of [
      '/metrics',
      '/admin',
      '/admin/accounts/x/keys',
      '/docs',
      '/docs/',
      '/docs-json',
      '/docs-yaml',
    ])
      expect([path, (await stack.ask(host, path)).status]).toEqual([path, 404]);
  });

  it('answers 404 for a host that it does not know', async () => {
    expect((await stack.ask('nothing', '/')).status).toBe(404);
  });
});

/** Of a container, in one of its networks; this machine reaches it there. */
async function addressOf(container: string): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  return (await stack.engine.docker(['inspect', '--format', format, container])).trim().split(' ')[0]!;
}

/** What a container answers on its second port: a status, or 0 while it answers nothing. */
async function asks(container: string, path: string): Promise<number> {
  return fetch(`http://${await addressOf(container)}:9090${path}`).then(
    ({ status }) => status,
    () => 0,
  );
}

const NO_DATABASE = [
  '--env',
  'DATABASE_URL_FILE=',
  '--env',
  'DATABASE_URL=postgres://x:y@203.0.113.1:5432/z',
];

describe.each([
  ['docker stop', true],
  ['docker stop, of a process 1', false],
])('%s', (_what, init) => {
  let subject: ComposeStack;
  const override = join(secrets, 'process-1.json');
  beforeAll(() => {
    writeFileSync(override, JSON.stringify({ services: { 'gift-cards': { init } } }));
    subject = new ComposeStack(stack.engine, { ...stack.options, override });
  });

  it('ends an app in time that waits for its database', async () => {
    const container = await run(subject, 'gift-cards', ...NO_DATABASE);
    await until('it lives', async () => (await asks(container, '/livez')) === 200);
    expect(await asks(container, '/readyz')).toBe(503);
    const { seconds, code } = await stop(container);
    expect([seconds < STOP_LIMIT, code]).toEqual([true, 0]);
  });

  it('ends an app in time that serves', async () => {
    const container = await run(subject, 'gift-cards');
    await until('it is ready', async () => (await asks(container, '/readyz')) === 200);
    const { seconds, code } = await stop(container);
    expect([seconds < STOP_LIMIT, code]).toEqual([true, 0]);
  });
});

describe('docker stop', () => {
  it('ends an app in time that has just been started', async () => {
    const container = await run(stack, 'gift-cards');
    await sleep(100);
    const { seconds, code } = await stop(container);
    expect(seconds).toBeLessThan(STOP_LIMIT);
    // 143: before it could listen to signals there was nothing to finish.
    expect([0, 143]).toContain(code);
  });

  it('ends a migration in time that waits for its turn', async () => {
    const [holder, observer] = [new pg.Client(await adminUrl(stack)), new pg.Client(await adminUrl(stack))];
    await Promise.all([holder.connect(), observer.connect()]);
    try {
      await holder.query('begin');
      await holder.query('lock table catalog.migrations in access exclusive mode');
      const container = await run(stack, 'migrate-perks');
      // By another connection: within a transaction the activity is that of its first look.
      await until('the migration waits', async () => {
        const { rows } = await observer.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity where application_name = 'perks-migrate' and wait_event_type = 'Lock'`,
        );
        return rows[0]!.n > 0;
      });
      expect((await stop(container)).seconds).toBeLessThan(STOP_LIMIT);
    } finally {
      await Promise.all([holder.end(), observer.end()]);
    }
  });

  it('lets a load of cards that is under way end or be refused, in time', async () => {
    const container = await run(stack, 'gift-cards');
    await until('it is ready', async () => (await asks(container, '/readyz')) === 200);
    const host = await addressOf(container);
    const answer = new Promise<string>((resolve) => {
      const headers = { 'x-api-key': stack.adminKey(), 'content-type': 'text/csv' };
      const load = request({
        host,
        port: 9090,
        method: 'POST',
        path: `/admin/pools/${account.pool}/cards`,
        headers,
      });
      load.on('response', (response) => resolve(`${response.statusCode}`));
      load.on('error', (error) => resolve(error.message));
      load.write('code,pin,denomination,currency,country\n');
      // It would never end.
      let row = 0;
      const timer = setInterval(
        () => (load.destroyed ? clearInterval(timer) : load.write(`SLOW-${(row += 1)},,25,GBP,GB\n`)),
        50,
      );
      load.on('close', () => clearInterval(timer));
    });
    await sleep(1_000);
    expect((await stop(container)).seconds).toBeLessThan(60);
    expect(await answer).toBe('503');
  });
});

describe('a release under load', () => {
  it('replaces every replica of the commit before without a failed request or a lost event', async () => {
    const images = await buildPrevious(await engine(), PREVIOUS);
    const previous = APPS.filter((app) => images.includes(app));
    await loadCards(stack, MOST_CARDS);
    // The new schema is there; the images of the commit before run on it, as they do in a rollout.
    if (SHORT && previous.length > 0) await stack.recreate(previous, PREVIOUS);
    const load = new Load(stack, account).start();
    try {
      if (!SHORT) await stack.replace(previous, PREVIOUS);
      await stack.replace(APPS, VERSION);
    } finally {
      await load.stop();
    }
    console.log(
      `answered under load: ${JSON.stringify(load.done)}; images of the commit before: ${previous.join(', ') || 'none'}`,
    );
    expect(load.failures).toEqual([]);
    expect(load.done.clicks).toBeGreaterThan(100);
    expect(await counted(stack, account, load.run, load.done)).toEqual(load.done);
    // Up to sixteen replicas start beside the load.
  }, 900_000);
});

if (!SHORT)
  describe('a pooler', () => {
    it('in transaction mode serves all apps, but for the upkeep of events', async () => {
      const direct = new pg.Client(await adminUrl(stack));
      await direct.connect();
      const pooler = await Pooler.start(stack);
      try {
        await pooler.stack.recreate(APPS);
        await loadCards(pooler.stack, MORE_CARDS, 'POOLED');
        const load = new Load(pooler.stack, account).start(2 * POOL_SIZE);
        await sleep(10_000);
        const address = await pooler.address();
        const { rows } = await direct.query<{ usename: string; pooled: number; around: number }>(
          `select usename, count(*) filter (where client_addr = $1)::int as pooled, count(*) filter (where client_addr <> $1)::int as around
         from pg_stat_activity where usename not in ('postgres') group by 1 order by 1`,
          [address],
        );
        await load.stop();
        expect(load.failures).toEqual([]);
        expect(load.done.links).toBeGreaterThan(100);
        expect(await counted(pooler.stack, account, load.run, load.done)).toEqual(load.done);
        for (const { usename, pooled, around } of rows) {
          expect([usename, around > 0]).toEqual([usename, usename === 'analytics']);
          expect(pooled).toBeLessThanOrEqual(POOL_SIZE);
        }
        expect(rows.map(({ usename }) => usename)).toEqual(expect.arrayContaining(['catalog', 'gift_cards']));
        expect(await pooler.logs()).not.toMatch(/ERROR|prepared statement/);
      } finally {
        await direct.end();
        await stack.recreate(APPS);
        await pooler.stop();
      }
    });
  });

describe('a backup', () => {
  it('of the database, taken under load, is completed by a replay: every answered event once, every card in one place, every lost link named', async () => {
    const before = new Load(stack, account).start();
    await sleep(5_000);
    await before.stop();
    const during = new Load(stack, account).start();
    await sleep(2_000);
    const taken = new Date();
    const database = await backUpDatabase(stack);
    await during.stop();
    // The backup knows nothing of these.
    const after = new Load(stack, account).start();
    await sleep(5_000);
    await after.stop();
    const loads = [before, during, after];
    expect(loads.flatMap(({ failures }) => failures)).toEqual([]);
    // Counted, so in the stream, which outlives the database.
    for (const load of loads) expect(await counted(stack, account, load.run, load.done)).toEqual(load.done);

    const restored = await newStack('restored');
    try {
      const broker = await keepBroker(stack);
      await stack.down();
      await restoreVolumes(restored, { database, broker });
      await restored.up();
      // The database is that of the backup.
      expect(await counted(restored, account, after.run, after.done, 0)).not.toEqual(after.done);
      expect(await replay(restored, new Date(taken.getTime() - 60_000))).toMatch(/"replaying"/);
      for (const load of loads)
        expect(await counted(restored, account, load.run, load.done)).toEqual(load.done);
      const authorization = `Bearer ${before.tokens[0]}`;
      expect((await restored.ask('rewards', '/api/reward-link', { headers: { authorization } })).status).toBe(
        200,
      );
      const { exitCode, output } = await runNode(['--import', 'tsx', 'tools/audit/src/main.ts', '--json'], {
        env: { DATABASE_URL: await adminUrl(restored) },
      });
      const audit = JSON.parse(output) as Record<'findings', unknown[]> & {
        events: { findings: { check: string; count: number }[] };
      };
      // Every card is in one place, and the links that the backup does not know are named.
      expect([exitCode, audit.findings]).toEqual([1, []]);
      expect(audit.events.findings.map(({ check }) => check)).toEqual([
        'a link that was answered and is gone',
      ]);
      const gone = audit.events.findings[0]!.count;
      expect(gone).toBeGreaterThanOrEqual(after.done.links);
      expect(gone).toBeLessThanOrEqual(during.done.links + after.done.links);
    } finally {
      await restored.down();
    }
  });
});
