import { runMigrations, loadEnv, type MigrationClass } from '@perkway/platform';
import {
  closeAll,
  createTrackingStream,
  http,
  launchApp,
  runNode,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const APPS = ['token-issuer', 'gift-cards'] as const;

const withOther = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

describe('docs/statements.md', () => {
  let nats: TestNats;
  const databases: TestDatabase[] = [];
  const apps: LaunchedApp[] = [];
  const files = ['verify.mjs', 'statement.jws'].map((name) => join(__dirname, `.${process.pid}-${name}`));
  const [script, file] = files as [string, string];

  beforeAll(async () => {
    nats = await testNats();
    await createTrackingStream(nats.url);
    for (const app of APPS) {
      const sources = join(ROOT, 'apps', app, 'src');
      const { migrations } = (await import(join(sources, 'migrations/index'))) as {
        migrations: MigrationClass[];
      };
      const database = await testDatabase(app, (url) => runMigrations(url, app, migrations));
      databases.push(database);
      const { defineApp } = await import(join(sources, 'app'));
      const { envSpec } = await import(join(sources, 'env'));
      apps.push(await launchApp(defineApp(loadEnv(envSpec, testEnvironment(app, { database, nats })))));
    }
    const page = readFileSync(join(ROOT, 'docs/statements.md'), 'utf8');
    writeFileSync(script, /```js\n(.*?)```/s.exec(page)![1]!);
  });
  afterAll(async () => {
    for (const path of files) rmSync(path, { force: true });
    await closeAll(...apps, ...databases, nats);
  });

  it('has a script that verifies a statement and rejects a changed one; the statement never changes', async () => {
    const [issuer, gift] = apps as [LaunchedApp, LaunchedApp];
    const key = testSecrets().adminKey;
    const pool = randomUUID();
    await http(issuer, { key }).put('/admin/accounts/a-bank').send({ name: 'A bank' }).expect(200);
    const { body: user } = await http(issuer, { key })
      .post('/admin/accounts/a-bank/keys')
      .send({ role: 'USER' });
    await http(gift, { key }).put(`/admin/pools/${pool}`).send({ owner: 'a-bank' }).expect(200);
    await http(gift, { key })
      .post(`/admin/pools/${pool}/cards`)
      .set('content-type', 'text/csv')
      .send('code,denomination,currency,country\nA,25,EUR,FR\nB,25,EUR,FR')
      .expect(200);
    await databases[1]!.query(`update pools set created_at = '2026-01-31T23:00:00Z'`);
    await databases[1]!.query(`update cards set loaded_at = '2026-01-31T23:59:59.9Z'`);

    const signed = await fetch(`${gift.url}/statements/2026-01.jws`, { headers: { 'x-api-key': user.key } });
    expect(signed.status).toBe(200);
    expect(signed.headers.get('content-type')).toBe('application/jose');
    const [header, payload, signature] = (await signed.text()).split('.') as [string, string, string];
    const { body: statement } = await http(gift, { key: user.key })
      .get('/statements?month=2026-01')
      .expect(200);
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({
      alg: 'ES256',
      kid: 'k1',
    });
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({
      ...statement,
      account: 'a-bank',
      issued_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });

    const verify = (text: string) => {
      writeFileSync(file, text);
      return runNode([script, file], { env: { TOKENS: issuer.url } });
    };
    const verified = await verify(`${header}.${payload}.${signature}`);
    expect(verified.output).toContain('Statement of a-bank for 2026-01');
    expect(verified.output).toContain('25 EUR: 0 + 2 - 0 - 0 = 2 cards');
    const changed = Buffer.from(payload, 'base64url').toString().replace('"cards":2', '"cards":3');
    for (const forged of [
      [header, Buffer.from(changed).toString('base64url'), signature],
      // One character of each part. Not the last one of the signature, because some of its bits are unused.
      [header, withOther(payload, 20), signature],
      [header, payload, withOther(signature, 20)],
      [withOther(header, header.length - 3), payload, signature],
    ]) {
      const { exitCode, output } = await verify(forged.join('.'));
      expect(exitCode).not.toBe(0);
      expect(output).not.toContain('cards');
    }

    // Nothing that happens later changes what is signed.
    await http(gift, { key })
      .post(`/admin/pools/${pool}/cards`)
      .set('content-type', 'text/csv')
      .send('code,denomination,currency,country\nC,25,EUR,FR')
      .expect(200);
    await http(issuer, { key }).put('/admin/accounts/another').send({ name: 'Another' }).expect(200);
    await http(gift, { key }).put(`/admin/pools/${pool}`).send({ owner: 'another' }).expect(200);
    const later = await fetch(`${gift.url}/statements/2026-01.jws`, { headers: { 'x-api-key': user.key } });
    const signedLater = JSON.parse(Buffer.from((await later.text()).split('.')[1]!, 'base64url').toString());
    expect({ ...signedLater, issued_at: null }).toEqual({ ...statement, account: 'a-bank', issued_at: null });
  });
});
