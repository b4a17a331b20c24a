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
import { appOfHost } from '../public-paths.js';
import { engine, VERSION } from './engine.js';

const PREVIOUS = 'previous';
/** CI skips the pooler. */
const SHORT = Boolean(process.env.CI);
/** Seconds for SHUTDOWN_DELAY_MS of the image and the drain, on a busy machine. */
const STOP_LIMIT = 18;
/** How long each load of the backup runs. */
const LOAD_MS = 2_000;
const MOST_CARDS = 20_000;
const MORE_CARDS = 5_000;
/** Per role, from docker/pooler/pgbouncer.ini. */
const POOL_SIZE = 8;

const APPS = [...appOfHost.values()];
/** The apps of which two replicas are upgraded. */
const SCALES: Record<string, number> = { perks: 2, links: 2 };
const secrets = mkdtempSync(join(tmpdir(), 'perkway-secrets-'));
const newStack = async (name: string): Promise<ComposeStack> =>
  new ComposeStack(await engine(), {
    project: `perkway-${name}-${process.pid}`,
    version: VERSION,
    port: await freePort(),
    secrets,
  });

let stack: ComposeStack;
/** Built while the first tests wait for the stack. */
let previousImages: Promise<string[]>;
beforeAll(async () => {
  stack = await newStack('test');
  await stack.makeSecrets();
  previousImages = buildPrevious(stack.engine, PREVIOUS);
  // The upgrade's test reports a failure.
  previousImages.catch(() => undefined);
});
afterAll(async () => {
  await stack?.down();
  rmSync(secrets, { recursive: true, force: true });
});

/** Stops a container. Returns how long `docker stop` took, and the exit code. */
async function stop(container: string): Promise<{ seconds: number; code: number }> {
  const started = Date.now();
  await stack.engine.docker(['stop', '--time', '30', container]);
  const code = await stack.engine.docker(['inspect', '--format', '{{.State.ExitCode}}', container]);
  await stack.engine.docker(['rm', container]);
  return { seconds: (Date.now() - started) / 1000, code: Number(code) };
}

/** Starts an additional container of a service in the background. */
const run = async (of: ComposeStack, service: string, ...options: string[]): Promise<string> =>
  (await of.compose(['run', '--detach', '--no-deps', ...options, service])).trim().split('\n').at(-1)!;

async function until(what: string, condition: () => Promise<boolean>, limitMs = 60_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`timed out after ${limitMs / 1000} s waiting for: ${what}`);
    await sleep(200);
  }
}

describe('the stack', () => {
  it("starts from nothing and counts a whole journey through the proxy's host names", async () => {
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

  it.each([...appOfHost.keys()])(
    'hides metrics, management API and interactive documentation of %s',
    async (host) => {
      for (const path of ['/metrics', '/admin', '/admin/accounts/x/keys', '/docs', '/docs/', '/docs-yaml'])
        expect([path, (await stack.request(host, path)).status]).toEqual([path, 404]);
    },
  );

  it('responds 404 to an unknown host', async () => {
    expect((await stack.request('nothing', '/')).status).toBe(404);
  });
});

/** Returns a container's address in one of its networks, which this machine can reach. */
async function addressOf(container: string): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  return (await stack.engine.docker(['inspect', '--format', format, container])).trim().split(' ')[0]!;
}

/** Returns the status of a request to a container's second port, or 0 without a response. */
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
  ['docker stop of process 1', false],
])('%s', (_what, init) => {
  let subject: ComposeStack;
  const override = join(secrets, 'process-1.json');
  beforeAll(() => {
    writeFileSync(override, JSON.stringify({ services: { 'gift-cards': { init } } }));
    subject = new ComposeStack(stack.engine, { ...stack.options, override });
  });

  it('stops an app in time while it waits for its database', async () => {
    const container = await run(subject, 'gift-cards', ...NO_DATABASE);
    await until('it lives', async () => (await asks(container, '/livez')) === 200);
    expect(await asks(container, '/readyz')).toBe(503);
    const { seconds, code } = await stop(container);
    expect([seconds < STOP_LIMIT, code]).toEqual([true, 0]);
  });

  it('stops an app in time while it serves', async () => {
    const container = await run(subject, 'gift-cards');
    await until('it is ready', async () => (await asks(container, '/readyz')) === 200);
    const { seconds, code } = await stop(container);
    expect([seconds < STOP_LIMIT, code]).toEqual([true, 0]);
  });
});

describe('docker stop', () => {
  it('stops an app in time just after its start', async () => {
    const container = await run(stack, 'gift-cards');
    await sleep(100);
    const { seconds, code } = await stop(container);
    expect(seconds).toBeLessThan(STOP_LIMIT);
    // 143: the signal came before the app handled signals, so there was nothing to finish.
    expect([0, 143]).toContain(code);
  });

  it('stops a migration in time while it waits for a lock', async () => {
    const [holder, observer] = [new pg.Client(await adminUrl(stack)), new pg.Client(await adminUrl(stack))];
    await Promise.all([holder.connect(), observer.connect()]);
    try {
      await holder.query('begin');
      await holder.query('lock table catalog.migrations in access exclusive mode');
      const container = await run(stack, 'migrate-perks');
      // On another connection, because within a transaction pg_stat_activity does not change.
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

  it('finishes or refuses a load of cards in progress, in time', async () => {
    const container = await run(stack, 'gift-cards');
    await until('it is ready', async () => (await asks(container, '/readyz')) === 200);
    const host = await addressOf(container);
    const reply = new Promise<string>((resolve) => {
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
      // An upload without end.
      let row = 0;
      const timer = setInterval(
        () => (load.destroyed ? clearInterval(timer) : load.write(`SLOW-${(row += 1)},,25,GBP,GB\n`)),
        50,
      );
      load.on('close', () => clearInterval(timer));
    });
    await sleep(1_000);
    expect((await stop(container)).seconds).toBeLessThan(60);
    expect(await reply).toBe('503');
  });
});

describe('an upgrade by docker/up under load', () => {
  it('replaces every replica of the previous commit without a failed request or a lost event, and keeps the scale', async () => {
    const images = await previousImages;
    const previous = APPS.filter((app) => images.includes(app));
    await loadCards(stack, MOST_CARDS);
    // The new schema is in place; images of the previous commit run on it, as in a rolling update.
    if (previous.length > 0) await stack.recreate(previous, PREVIOUS, SCALES);
    else await stack.recreate(Object.keys(SCALES), VERSION, SCALES);
    const load = new Load(stack, account).start();
    try {
      await stack.upgrade();
    } finally {
      await load.stop();
    }
    // Docker checks a container's health for the first time ten seconds after its start.
    await stack.healthy();
    for (const app of APPS) {
      const containers = await stack.containers(app);
      expect([app, containers.length]).toEqual([app, SCALES[app] ?? 1]);
      for (const { Config, State } of containers)
        expect([Config.Image, State.Health?.Status]).toEqual([`perkway/${app}:${VERSION}`, 'healthy']);
    }
    console.log(
      `acknowledged under load: ${JSON.stringify(load.done)}; images of the previous commit: ${previous.join(', ') || 'none'}`,
    );
    expect(load.failures).toEqual([]);
    expect(load.done.clicks).toBeGreaterThan(100);
    expect(await counted(stack, account, load.run, load.done)).toEqual(load.done);
    // Up to sixteen replicas start beside the load.
  }, 900_000);
});

if (!SHORT)
  describe('a pooler', () => {
    it('in transaction mode serves all apps except for the maintenance of events', async () => {
      const direct = new pg.Client(await adminUrl(stack));
      await direct.connect();
      const pooled = new ComposeStack(stack.engine, { ...stack.options, isPooled: true });
      try {
        await pooled.up(['pooler']);
        await pooled.recreate(APPS);
        await loadCards(pooled, MORE_CARDS, 'POOLED');
        const load = new Load(pooled, account).start(2 * POOL_SIZE);
        await sleep(10_000);
        const address = await pooled.address('pooler');
        const { rows } = await direct.query<{ usename: string; pooled: number; around: number }>(
          `select usename, count(*) filter (where client_addr = $1)::int as pooled, count(*) filter (where client_addr <> $1)::int as around
         from pg_stat_activity where usename not in ('postgres') group by 1 order by 1`,
          [address],
        );
        await load.stop();
        expect(load.failures).toEqual([]);
        expect(load.done.links).toBeGreaterThan(100);
        expect(await counted(pooled, account, load.run, load.done)).toEqual(load.done);
        for (const { usename, pooled, around } of rows) {
          expect([usename, around > 0]).toEqual([usename, usename === 'analytics']);
          expect(pooled).toBeLessThanOrEqual(POOL_SIZE);
        }
        expect(rows.map(({ usename }) => usename)).toEqual(expect.arrayContaining(['catalog', 'gift_cards']));
        const [pooler] = await pooled.containers('pooler');
        expect(await pooled.logs(pooler!.Id, 1_000)).not.toMatch(/ERROR|prepared statement/);
      } finally {
        await direct.end();
        await stack.recreate(APPS);
        pooled.agent.destroy();
      }
    });
  });

describe('a backup', () => {
  it('of the database under load is completed by a replay: every event once, every card in one place, every lost link named', async () => {
    const before = new Load(stack, account).start();
    await sleep(LOAD_MS);
    await before.stop();
    const during = new Load(stack, account).start();
    await sleep(LOAD_MS);
    const taken = new Date();
    const database = await backUpDatabase(stack);
    await during.stop();
    // Requests after the backup.
    const after = new Load(stack, account).start();
    await sleep(LOAD_MS);
    await after.stop();
    const loads = [before, during, after];
    expect(loads.flatMap(({ failures }) => failures)).toEqual([]);
    // They are counted, so they are in the stream, which survives the database.
    for (const load of loads) expect(await counted(stack, account, load.run, load.done)).toEqual(load.done);

    const restored = await newStack('restored');
    try {
      const broker = await keepBroker(stack);
      await stack.down();
      await restoreVolumes(restored, { database, broker });
      await restored.up();
      // The restored database lacks them.
      expect(await counted(restored, account, after.run, after.done, 0)).not.toEqual(after.done);
      expect(await replay(restored, new Date(taken.getTime() - 60_000))).toMatch(/"replaying"/);
      for (const load of loads)
        expect(await counted(restored, account, load.run, load.done)).toEqual(load.done);
      const authorization = `Bearer ${before.tokens[0]}`;
      expect(
        (await restored.request('rewards', '/api/reward-link', { headers: { authorization } })).status,
      ).toBe(200);
      const { exitCode, output } = await runNode(
        ['--import', 'tsx', 'tools/perkway/src/audit.ts', '--json'],
        {
          env: { DATABASE_URL: await adminUrl(restored) },
        },
      );
      const audit = JSON.parse(output) as Record<'findings', unknown[]> & {
        events: { findings: { check: string; count: number }[] };
      };
      // Every card is in one place, and the audit names the links that the backup lacks.
      expect([exitCode, audit.findings]).toEqual([1, []]);
      expect(audit.events.findings.map(({ check }) => check)).toEqual([
        'an acknowledged link that is missing',
      ]);
      const gone = audit.events.findings[0]!.count;
      expect(gone).toBeGreaterThanOrEqual(after.done.links);
      expect(gone).toBeLessThanOrEqual(during.done.links + after.done.links);
    } finally {
      await restored.down();
    }
  });
});
