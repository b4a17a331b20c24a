import { createServer as createHttp, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  AppProcess,
  BundledApp,
  closeAll,
  http,
  launchChromium,
  runNode,
  selfSignedCertificate,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { render } from '../../src/kubectl.js';

const ACCOUNT = 'acme';
const APPS = ['token-issuer', 'console'] as const;

/** Returns the console's URL as an overlay gives it to the apps. */
async function urlOfOverlay(overlay: string): Promise<string> {
  const settings = (await render(`k8s/overlays/${overlay}`)).filter(
    ({ kind, data }) => kind === 'ConfigMap' && (data as Record<string, string>).CONSOLE_URL,
  );
  expect(settings).toHaveLength(1);
  return (settings[0]!.data as Record<string, string>).CONSOLE_URL!;
}

/** Starts a server that forwards every request to `app`, as an ingress does. Terminates TLS if `url` is https. */
async function startIngress(url: URL, app: string): Promise<{ port: number; close: () => void }> {
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, url: path, headers } = incoming;
    const sent = request(new URL(path!, app), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers);
      response.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  };
  const { certificate: cert, key } = selfSignedCertificate(url.hostname);
  const server = url.protocol === 'https:' ? createHttps({ cert, key }, forward) : createHttp(forward);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

describe('the console', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let bundles: Record<(typeof APPS)[number], BundledApp>;
  let issuer: AppProcess;
  let key: string;

  beforeAll(async () => {
    [database, nats] = await Promise.all([
      testDatabase('console', () => Promise.resolve(), { template: 'empty' }),
      testNats(),
    ]);
    const built = await Promise.all(APPS.map((app) => BundledApp.build(app)));
    bundles = { 'token-issuer': built[0]!, console: built[1]! };
    for (const app of APPS) {
      const env = testEnvironment(app, { database, nats });
      const { exitCode, output } = await runNode([bundles[app].path('migrate')], { env });
      if (exitCode !== 0) throw new Error(output);
    }
    issuer = await bundles['token-issuer'].spawn(testEnvironment('token-issuer', { database, nats }));
    await issuer.ready();
    const admin = http(issuer, { key: testSecrets().adminKey });
    await admin.put(`/admin/accounts/${ACCOUNT}`).send({ name: 'Acme' }).expect(200);
    const { body } = await admin.post(`/admin/accounts/${ACCOUNT}/keys`).send({ role: 'USER' }).expect(201);
    ({ key } = body as { key: string });
  }, 240_000);
  afterAll(() => closeAll(issuer && { close: () => issuer.kill('SIGTERM') }, database, nats));

  it.each(['production', 'local'])('lets a person sign in at the URL of the overlay %s', async (overlay) => {
    const url = new URL(await urlOfOverlay(overlay));
    const replica = await bundles.console.spawn({
      ...testEnvironment('console', { database, nats, trustedProxies: '127.0.0.0/8' }),
      CONSOLE_URL: url.origin,
    });
    const ingress = await startIngress(url, replica.url);
    const browser = await launchChromium([
      '--ignore-certificate-errors',
      `--host-resolver-rules=MAP ${url.host} 127.0.0.1:${ingress.port}`,
    ]);
    try {
      await replica.ready();
      const page = await browser.newPage();
      await page.goto(url.href);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
      expect(new URL(page.url()).origin).toBe(url.origin);
    } finally {
      await browser.close();
      ingress.close();
      await replica.kill('SIGTERM');
    }
  });
});
