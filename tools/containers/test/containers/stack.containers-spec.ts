import { freePort } from '@perkway/local-servers';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { adminUrl, restoreBackup, takeBackup } from '../../src/backup.js';
import { command } from '../../src/command.js';
import { ComposeStack } from '../../src/compose-stack.js';
import { DEMO_ACCOUNT as account, loadCards } from '../../src/demo-account.js';
import { buildPrevious } from '../../src/images.js';
import { counted, Load } from '../../src/load.js';
import { ROOT } from '../../src/paths.js';
import { appOfHost } from '../public-paths.js';
import { engine, VERSION } from './engine.js';

const PREVIOUS = 'previous';
/** Seconds: SHUTDOWN_DELAY_MS of the image, the drain, and a busy machine. */
const STOP_LIMIT = 18;
const MOST_CARDS = 20_000;

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
const run = async (service: string, ...options: string[]): Promise<string> =>
  (await stack.compose(['run', '--detach', '--no-deps', ...options, service])).trim().split('\n').at(-1)!;

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

describe('docker stop', () => {
  it.each([
    [
      'waits for its database',
      ['--env', 'DATABASE_URL_FILE=', '--env', 'DATABASE_URL=postgres://x:y@203.0.113.1:5432/z'],
      2_000,
    ],
    ['has just been started', [], 100],
    ['serves', [], 6_000],
  ])('ends an app in time that %s', async (_phase, options, afterMs) => {
    const container = await run('gift-cards', ...options);
    await sleep(afterMs);
    const { seconds, code } = await stop(container);
    expect(seconds).toBeLessThan(STOP_LIMIT);
    // 143: before it could listen to signals there was nothing to finish.
    expect([0, 143]).toContain(code);
  });

  it('ends a migration in time that waits for its turn', async () => {
    const client = new pg.Client(await adminUrl(stack));
    await client.connect();
    try {
      await client.query('begin');
      await client.query('lock table catalog.migrations in access exclusive mode');
      const container = await run('migrate-perks');
      await until('the migration waits', async () => {
        const { rows } = await client.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity where usename = 'catalog' and wait_event_type = 'Lock'`,
        );
        return rows[0]!.n > 0;
      });
      expect((await stop(container)).seconds).toBeLessThan(STOP_LIMIT);
    } finally {
      await client.end();
    }
  });

  it('lets a load of cards that is under way end or be refused, in time', async () => {
    const container = await run('gift-cards');
    const [{ NetworkSettings }] = JSON.parse(await stack.engine.docker(['inspect', container])) as [
      { NetworkSettings: { Networks: Record<string, { IPAddress: string }> } },
    ];
    const host = Object.values(NetworkSettings.Networks)[0]!.IPAddress;
    await until(
      'it is ready',
      async () => (await fetch(`http://${host}:9090/readyz`).catch(() => undefined))?.ok ?? false,
    );
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
    expect(await answer).toMatch(/^\d{3}$|hang up|reset/);
  });
});

describe('a release under load', () => {
  it('replaces every replica, by that of the commit before and back, without a failed request or a lost event', async () => {
    const previous = await buildPrevious(await engine(), PREVIOUS);
    await loadCards(stack, MOST_CARDS);
    const load = new Load(stack, account).start();
    try {
      // The new schema is there; the images of the commit before run on it, as they do in a rollout.
      for (const version of previous ? [PREVIOUS, VERSION] : [VERSION])
        for (const app of APPS) await stack.replace(app, version);
    } finally {
      await load.stop();
    }
    console.log(
      `answered under load: ${JSON.stringify(load.done)}; ${previous ? 'with' : 'without'} the images of the commit before`,
    );
    expect(load.failures).toEqual([]);
    expect(load.done.clicks).toBeGreaterThan(100);
    expect(await counted(stack, account, load.run, load.done)).toEqual(load.done);
  });
});

describe('a backup', () => {
  it('taken under load is restored with every answered event once and every card in one place', async () => {
    const before = new Load(stack, account).start();
    await sleep(5_000);
    await before.stop();
    const during = new Load(stack, account).start();
    const copies = await takeBackup(stack);
    await during.stop();
    expect([...before.failures, ...during.failures]).toEqual([]);

    const restored = await newStack('restored');
    try {
      await stack.down();
      await restoreBackup(restored, copies);
      await restored.up();
      expect(await counted(restored, account, before.run, before.done)).toEqual(before.done);
      const some = await counted(restored, account, during.run, during.done);
      for (const what of Object.keys(some) as (keyof typeof some)[])
        expect(some[what]).toBeLessThanOrEqual(during.done[what]);
      const authorization = `Bearer ${before.tokens[0]}`;
      expect((await restored.ask('rewards', '/api/reward-link', { headers: { authorization } })).status).toBe(
        200,
      );
      const env = { ...process.env, DATABASE_URL: await adminUrl(restored) };
      expect(
        await command(process.execPath, ['--import', 'tsx', 'tools/audit/src/main.ts'], { cwd: ROOT, env }),
      ).toMatch(/the numbers are right/);
    } finally {
      await restored.down();
    }
  });
});
