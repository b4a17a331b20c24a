import { freePort } from '@perkway/local-servers';
import {
  Load,
  OPERATION_NAMES,
  PERKS,
  reconcileAll,
  seededRandom,
  type Operation,
} from '@perkway/test-fleet';
import { launchChromium, runNode, waitFor } from '@perkway/testing';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { adminUrl, backUpDatabase, keepBroker, replay, restoreVolumes } from '../../src/backup.js';
import { ComposeStack } from '../../src/compose-stack.js';
import { buildPrevious } from '../../src/images.js';
import { PREVIOUS, VERSION } from '../../src/prepare.js';
import { appOfHost } from '../public-paths.js';
import { engine } from './engine.js';

/** CI skips the pooler. */
const SHORT = Boolean(process.env.CI);
/** Seconds that an app may take to stop: SHUTDOWN_DELAY_MS of the image (5 s), the drain (10 s), and spare time. */
const STOP_LIMIT = 18;
/** For one container, on a busy machine. */
const START_LIMIT_MS = 60_000;
/** How long the workload runs before and after the backup. */
const LOAD_MS = 2_000;
const CARDS = 3_000;
/** Fraction of the workload's normal rates. Leaves processor time for replicas that start meanwhile. */
const PACE = 0.3;
const COUNTED_WITHIN_MS = 30_000;
/** Findings of the audit about reveals and cancellations that a backup lacks. */
const ENDS = [
  'a revealed link that is missing with its reveal',
  'a link with a revealed event that is not revealed',
  'a link with a cancelled event that is not cancelled',
];
/** A pool of examples/demo. */
const DEMO_POOL = '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10';
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

/** Stops and removes a container. Returns how long that took, and the exit code. */
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

/** Starts a workload. Without pixels, because all customers have one address, from which one view a second counts. */
async function startLoad(of: ComposeStack, pace = PACE): Promise<Load> {
  const operations = OPERATION_NAMES.filter((operation) => operation !== 'pixel');
  const load = new Load(of, seededRandom(1), pace, operations);
  await load.prepare(CARDS);
  load.start();
  return load;
}

/** By operation: the cube that counts it, and the dimension with the id of the attempt. */
const COUNTED: Partial<Record<Operation, [cube: string, dimension: string]>> = {
  read: ['perk_views', 'utm_content'],
  click: ['perk_clicks', 'utm_content'],
  outreach: ['incentive_clicks', 'utm_content'],
  conversion: ['conversions', 'utm_content'],
  generate: ['reward_links', 'created_by'],
};

const acknowledged = (load: Load, phase?: number) => {
  const done = load.attempts.filter(
    (attempt) => attempt.acknowledgedAt !== undefined && attempt.phase === (phase ?? attempt.phase),
  );
  return Object.fromEntries(
    Object.keys(COUNTED).map((name) => {
      const count = done.filter(({ operation }) => operation === name).length;
      return [name, name === 'read' ? count * PERKS.length : count];
    }),
  );
};

/** Returns what the query host counts of a workload. */
async function countOnce(of: ComposeStack, load: Load): Promise<Record<string, number>> {
  const { token } = JSON.parse((await of.request('token', '/cube/token', { headers: load.client })).text);
  const counts: Record<string, number> = {};
  for (const [name, [cube, dimension]] of Object.entries(COUNTED)) {
    const filters = [
      { member: `${cube}.${dimension}`, operator: 'startsWith', values: [`${load.run}-`] },
      ...(cube === 'reward_links'
        ? [{ member: 'reward_links.state', operator: 'equals', values: ['generated'] }]
        : []),
    ];
    const query = encodeURIComponent(JSON.stringify({ measures: [`${cube}.count`], filters }));
    const path = `/cubejs-api/v1/load?query=${query}`;
    const { data } = JSON.parse(
      (await of.request('query', path, { headers: { authorization: token } })).text,
    );
    counts[name] = Number(data?.[0]?.[`${cube}.count`] ?? 0);
  }
  return counts;
}

/** Waits until the query host counts every acknowledged attempt. */
async function expectCounted(of: ComposeStack, load: Load): Promise<void> {
  const expected = acknowledged(load);
  let counts = await countOnce(of, load);
  for (const deadline = Date.now() + COUNTED_WITHIN_MS; Date.now() < deadline; await sleep(300)) {
    if (isDeepStrictEqual(counts, expected)) break;
    counts = await countOnce(of, load);
  }
  expect(counts).toEqual(expected);
}

/** Stops a workload, and checks that nothing failed and that everything is counted and stored once. */
async function stopLoad(of: ComposeStack, load: Load): Promise<void> {
  await load.stop();
  expect(load.failures).toEqual([]);
  await expectCounted(of, load);
  const { examples } = await reconcileAll({ database: { admin: await adminUrl(of) } }, load);
  expect(examples).toEqual([]);
}

describe('the stack', () => {
  it("starts from nothing and counts a whole journey through the proxy's host names", async () => {
    await stack.dockerUp('--profile', 'demo');
    const ended = async () => (await stack.containers('demo'))[0]?.State.Status === 'exited';
    await waitFor(ended, 'the demo to end', START_LIMIT_MS);
    const [demo] = await stack.containers('demo');
    expect(await stack.logs(demo!.Id, 200)).toMatch(/counted/i);
    expect(demo!.State.ExitCode).toBe(0);
    // All migrations, and then all apps, start at once.
  }, 900_000);

  it('has read-only roots, no capabilities and a limit on processes', async () => {
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

  it.each([...appOfHost.keys()])(
    'serves the start page, the error codes and the OpenAPI document of %s',
    async (host) => {
      for (const path of ['/', '/errors', '/docs-json'])
        expect([path, (await stack.request(host, path)).status]).toEqual([path, 200]);
    },
  );

  it('lets a person sign in to the console through the proxy, in a browser', async () => {
    const [replica] = await stack.containers('console');
    const variables = await stack.engine.docker(['inspect', '--format', '{{json .Config.Env}}', replica!.Id]);
    const [, url] = /"CONSOLE_URL=([^"]+)"/.exec(variables)!;
    const { origin, host } = new URL(url!);
    const browser = await launchChromium([
      `--host-resolver-rules=MAP ${host} 127.0.0.1:${stack.options.port}`,
    ]);
    try {
      const page = await browser.newPage();
      await page.goto(origin);
      await page.getByLabel('API key').fill(stack.adminKey());
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
      expect(new URL(page.url()).origin).toBe(origin);
    } finally {
      await browser.close();
    }
  });

  it('responds 404 to an unknown host', async () => {
    expect((await stack.request('nothing', '/')).status).toBe(404);
  });
});

/** Returns a container's address in one of its networks, which this machine can reach. */
async function addressOf(container: string): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  return (await stack.engine.docker(['inspect', '--format', format, container])).trim().split(' ')[0]!;
}

/** Returns the status of a request to a container's metrics port, or 0 without a response. */
async function statusOf(container: string, path: string): Promise<number> {
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

describe('docker stop', () => {
  // Concurrently, because the delay before the drain takes most of the time.
  it('stops an app in time, as process 1 or under an init process, while it serves or waits for its database', async () => {
    const stopped = [true, false].map(async (init) => {
      const override = join(secrets, `init-${init}.json`);
      writeFileSync(override, JSON.stringify({ services: { 'gift-cards': { init } } }));
      const subject = new ComposeStack(stack.engine, { ...stack.options, override });
      const serving = await run(subject, 'gift-cards');
      const waiting = await run(subject, 'gift-cards', ...NO_DATABASE);
      await waitFor(
        async () => (await statusOf(serving, '/readyz')) === 200,
        'it to be ready',
        START_LIMIT_MS,
      );
      await waitFor(async () => (await statusOf(waiting, '/livez')) === 200, 'it to live', START_LIMIT_MS);
      expect(await statusOf(waiting, '/readyz')).toBe(503);
      return Promise.all([stop(serving), stop(waiting)]);
    });
    for (const { seconds, code } of (await Promise.all(stopped)).flat())
      expect([seconds < STOP_LIMIT, code]).toEqual([true, 0]);
  });

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
      await waitFor(
        async () => {
          const { rows } = await observer.query<{ n: number }>(
            `select count(*)::int as n from pg_stat_activity where application_name = 'perks-migrate' and wait_event_type = 'Lock'`,
          );
          return rows[0]!.n > 0;
        },
        'the migration to wait',
        START_LIMIT_MS,
      );
      expect((await stop(container)).seconds).toBeLessThan(STOP_LIMIT);
    } finally {
      await Promise.all([holder.end(), observer.end()]);
    }
  });

  it('responds 503 to a load of cards that does not end', async () => {
    const container = await run(stack, 'gift-cards');
    await waitFor(
      async () => (await statusOf(container, '/readyz')) === 200,
      'it to be ready',
      START_LIMIT_MS,
    );
    const host = await addressOf(container);
    const reply = new Promise<string>((resolve) => {
      const headers = { 'x-api-key': stack.adminKey(), 'content-type': 'text/csv' };
      const load = request({
        host,
        port: 9090,
        method: 'POST',
        path: `/admin/pools/${DEMO_POOL}/cards`,
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
    // 137 if `docker stop` had to kill it.
    expect((await stop(container)).code).toBe(0);
    expect(await reply).toBe('503');
  });
});

/** Keys that are rotated in two steps, with an upgrade after each. */
const KEYRINGS = [
  'LINK_SIGNING_KEYS',
  'OUTREACH_SIGNING_KEYS',
  'REWARD_TOKEN_KEYS',
  'CARD_ENCRYPTION_KEYS',
  'SESSION_KEYS',
  'ERASURE_KEYS',
  'WEBHOOK_SECRET_KEYS',
];

describe('an upgrade by docker/up under load', () => {
  it('replaces every replica of the previous commit and every key without a failed request or a lost event, and keeps the scale', async () => {
    const rotateAll = async () => {
      // Not PIXEL_HASH_KEY and NATS_PASSWORD, whose rotation may count a view twice and fail requests (docs/deploy.md).
      for (const variable of [...KEYRINGS, 'ANALYTICS_TOKEN_KEYS']) await stack.rotate(variable);
    };
    await rotateAll();
    const images = await previousImages;
    const previous = APPS.filter((app) => images.includes(app));
    // The new schema is in place; images of the previous commit run on it, as in a rolling update.
    if (previous.length > 0) await stack.recreate(previous, PREVIOUS, SCALES);
    else await stack.recreate(Object.keys(SCALES), VERSION, SCALES);
    const load = await startLoad(stack);
    try {
      await rotateAll();
      await stack.dockerUp();
    } finally {
      await load.stop();
    }
    // The new keys sign, and the upgrade put none of the former ones back.
    for (const variable of KEYRINGS) {
      const files = APPS.map((app) => join(secrets, app, variable)).filter((file) => existsSync(file));
      expect(files).not.toEqual([]);
      for (const file of files)
        expect([file, readFileSync(file, 'utf8')]).toEqual([file, expect.stringMatching(/^k2:.*,k1:/)]);
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
      `acknowledged under load: ${JSON.stringify(acknowledged(load))}; images of the previous commit: ${previous.join(', ') || 'none'}`,
    );
    expect(acknowledged(load).click).toBeGreaterThan(100);
    await stopLoad(stack, load);
    // All replicas are replaced one by one, beside the load.
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
        const load = await startLoad(pooled, 2);
        await sleep(10_000);
        const address = await pooled.address('pooler');
        const { rows } = await direct.query<{ usename: string; pooled: number; around: number }>(
          `select usename, count(*) filter (where client_addr = $1)::int as pooled, count(*) filter (where client_addr <> $1)::int as around
         from pg_stat_activity where usename not in ('postgres') group by 1 order by 1`,
          [address],
        );
        await stopLoad(pooled, load);
        expect(acknowledged(load).generate).toBeGreaterThan(100);
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
    const load = await startLoad(stack);
    await sleep(LOAD_MS);
    load.phase = 1;
    const taken = new Date();
    const database = await backUpDatabase(stack);
    // Requests after the backup.
    load.phase = 2;
    await sleep(LOAD_MS);
    // Everything is counted, so it is in the stream, which survives the database.
    await stopLoad(stack, load);

    const restored = await newStack('restored');
    try {
      const broker = await keepBroker(stack);
      await stack.down();
      await restoreVolumes(restored, { database, broker });
      await restored.up();
      // The restored database lacks the events since the backup.
      expect(await countOnce(restored, load)).not.toEqual(acknowledged(load));
      expect(await replay(restored, new Date(taken.getTime() - 60_000))).toMatch(/"replaying"/);
      await expectCounted(restored, load);
      const [first] = load.attempts.filter(({ linkId, acknowledgedAt }) => linkId && acknowledgedAt);
      const authorization = `Bearer ${load.promised.tokens.get(first!.linkId!)}`;
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
      // Every card is in one place, and the audit names the links, and the ends of links, that the backup lacks.
      expect([exitCode, audit.findings]).toEqual([1, []]);
      const found = new Map(audit.events.findings.map(({ check, count }) => [check, count]));
      const gone = found.get('an acknowledged link that is missing');
      found.delete('an acknowledged link that is missing');
      expect(ENDS).toEqual(expect.arrayContaining([...found.keys()]));
      const [during, after] = [1, 2].map((phase) => acknowledged(load, phase).generate!) as [number, number];
      expect(gone).toBeGreaterThanOrEqual(after);
      expect(gone).toBeLessThanOrEqual(during + after);
    } finally {
      await restored.down();
    }
  });
});
