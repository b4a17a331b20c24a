import { Module } from '@nestjs/common';
import { nkeys } from '@nats-io/transport-node';
import { startNats, type LocalServer } from '@perkway/local-servers';
import { loadEnv, NatsService, platformEnv } from '@perkway/platform';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  brokerUrlOf,
  launchApp,
  runFolder,
  selfSignedCertificate,
  testNats,
  waitFor,
  type LaunchedApp,
} from '../src';

@Module({})
class EmptyModule {}

let folder: string;
beforeAll(() => {
  folder = runFolder('broker-connection');
});

const running: { close?: () => Promise<void>; kill?: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await (each.close ?? each.kill)!.call(each);
});

/** Writes a temporary file and returns its path. */
function file(content: string): string {
  const path = join(folder, randomBytes(6).toString('hex'));
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** @param settings are read again at a restart */
async function broker(settings: { moreConfiguration?: string }): Promise<LocalServer> {
  const name = randomBytes(6).toString('hex');
  const fixed = {
    port: 0,
    storeDir: join(folder, name),
    logFile: join(folder, `${name}.log`),
    dieWithParent: true,
  };
  const server = await startNats(Object.assign(settings, fixed));
  running.push(server);
  return server;
}

async function launch(environment: Record<string, string>): Promise<LaunchedApp> {
  const env = loadEnv(platformEnv, { PORT: '1', ...environment });
  const app = await launchApp({ name: 'perks', module: EmptyModule, env });
  running.push(app);
  return app;
}

/** Returns CONNECTED, or the message with which the app reports that the broker refused it. */
async function outcome(environment: Record<string, string>): Promise<string> {
  const { app } = await launch(environment);
  const nats = app.get(NatsService);
  return Promise.race([nats.connected().then(() => CONNECTED), nats.refused.then(({ message }) => message)]);
}
const CONNECTED = 'connected';
const USER_REFUSED = 'NATS rejects the user; check NATS_URL, NATS_PASSWORD or NATS_CREDS_FILE.';

describe('the NATS user of an app', () => {
  it('comes from the URL', async () => {
    const nats = await testNats();
    running.push(nats);
    expect(await outcome({ NATS_URL: brokerUrlOf('perks', nats.url) })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: nats.url.replace(/:[^:@]+@/, ':wrong@') })).toBe(USER_REFUSED);
    expect(await outcome({ NATS_URL: nats.url.replace(/\/\/.*@/, '//') })).toBe(USER_REFUSED);
  });

  it("is the app's name if only a password is given", async () => {
    const server = await broker({
      moreConfiguration: 'authorization { users: [{ user: perks, password: "p@ss word" }] }',
    });
    expect(await outcome({ NATS_URL: server.url, NATS_PASSWORD: 'p@ss word' })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: server.url, NATS_PASSWORD_FILE: file('p@ss word\n') })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: server.url, NATS_PASSWORD: 'other' })).toBe(USER_REFUSED);
  });

  it('may be a token', async () => {
    const server = await broker({ moreConfiguration: 'authorization { token: "s3cret" }' });
    expect(await outcome({ NATS_URL: server.url.replace('//', '//s3cret@') })).toBe(CONNECTED);
  });

  it('may come from a credentials file', async () => {
    const { configuration, credentials, ofAStranger } = operatorMode();
    const server = await broker({ moreConfiguration: configuration });
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: file(credentials) })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: file(ofAStranger) })).toBe(USER_REFUSED);
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: file('nothing') })).toBe(
      'NATS_CREDS_FILE contains no credentials.',
    );
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: join(folder, 'none') })).toBe(
      'NATS_CREDS_FILE cannot be read (ENOENT).',
    );
  });

  it('logs a permissions violation once', async () => {
    const nats = await testNats();
    running.push(nats);
    const { app, logs } = await launch({ NATS_URL: brokerUrlOf('perks', nats.url) });
    const connection = await app.get(NatsService).connected();
    connection.publish('tracking.boost', 'forged');
    await connection.flush();
    await new Promise((resolve) => setImmediate(resolve));
    const refusals = logs.filter((line) =>
      /Permissions Violation for Publish to ."tracking.boost/.test(line),
    );
    expect(refusals).toHaveLength(1);
  });

  it('can be refused later: the app logs it once, keeps running and reconnects', async () => {
    const users = (password: string) => `authorization { users: [{ user: perks, password: "${password}" }] }`;
    const settings = { moreConfiguration: users('first') };
    const server = await broker(settings);
    const { app, logs } = await launch({ NATS_URL: server.url, NATS_PASSWORD: 'first' });
    const connection = await app.get(NatsService).connected();
    const untilLogged = (text: string) => waitFor(() => logs.some((line) => line.includes(text)), text);
    settings.moreConfiguration = users('second');
    await server.restart();
    await untilLogged(USER_REFUSED);
    settings.moreConfiguration = users('first');
    await server.restart();
    await untilLogged('NATS connection restored');
    await connection.flush();
    expect(logs.filter((line) => line.includes(USER_REFUSED))).toHaveLength(1);
  });
});

describe('several NATS servers', () => {
  it('connects if one of them responds', async () => {
    const [gone, hanging, there] = [await broker({}), await broker({}), await broker({})];
    await gone.kill();
    hanging.pause();
    expect(await outcome({ NATS_URL: [gone, hanging, there].map(({ url }) => url).join(',') })).toBe(
      CONNECTED,
    );
  });
});

describe('NATS over TLS', () => {
  const own = selfSignedCertificate();
  const tlsBroker = async ({ certificate, key } = own): Promise<string> => {
    const { url } = await broker({
      moreConfiguration: `tls { cert_file: "${file(certificate)}", key_file: "${file(key)}" }`,
    });
    return url.replace('127.0.0.1', 'localhost');
  };
  const UNTRUSTED = /^The certificate of the NATS server is not trusted \([A-Z_]+\); check NATS_CA_FILE\.$/;
  const NO_TLS = 'NATS_URL or NATS_CA_FILE requires TLS, but the server does not support it.';

  it('connects to a server whose certificate is trusted', async () => {
    const url = await tlsBroker();
    const ca = file(own.certificate);
    for (const address of [url, url.replace('nats:', 'tls:')])
      expect(await outcome({ NATS_URL: address, NATS_CA_FILE: ca })).toBe(CONNECTED);
  });

  it('refuses a server whose certificate is not trusted', async () => {
    const url = await tlsBroker();
    const tls = url.replace('nats:', 'tls:');
    expect(await outcome({ NATS_URL: tls })).toMatch(UNTRUSTED);
    expect(await outcome({ NATS_URL: tls, NATS_CA_FILE: file(selfSignedCertificate().certificate) })).toMatch(
      UNTRUSTED,
    );
    const other = selfSignedCertificate('other.test');
    const otherHost = (await tlsBroker(other)).replace('nats:', 'tls:');
    expect(await outcome({ NATS_URL: otherHost, NATS_CA_FILE: file(other.certificate) })).toMatch(UNTRUSTED);
    expect(await outcome({ NATS_URL: tls, NATS_CA_FILE: file('nothing') })).toMatch(UNTRUSTED);
    expect(await outcome({ NATS_URL: tls, NATS_CA_FILE: join(folder, 'none') })).toBe(
      'NATS_CA_FILE cannot be read (ENOENT).',
    );
  });

  it('never falls back to a connection without TLS', async () => {
    const { url } = await broker({});
    expect(await outcome({ NATS_URL: url.replace('nats:', 'tls:') })).toBe(NO_TLS);
    expect(await outcome({ NATS_URL: url, NATS_CA_FILE: file(own.certificate) })).toBe(NO_TLS);
    expect(await outcome({ NATS_URL: url })).toBe(CONNECTED);
  });
});

/**
 * The configuration of a server in operator mode, a credentials file of one of its users, and one signed by an unknown
 * account, as `nsc` makes them.
 */
function operatorMode(): { configuration: string; credentials: string; ofAStranger: string } {
  const [operator, system, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  type Keys = ReturnType<typeof nkeys.createUser>;
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = (issuer: Keys, subject: Keys, nats: object): string => {
    const claims = {
      jti: randomBytes(8).toString('hex'),
      iat: Math.floor(Date.now() / 1000),
      iss: issuer.getPublicKey(),
      sub: subject.getPublicKey(),
      name: 'test',
      nats: { version: 2, ...nats },
    };
    const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
    return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
  };
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const accounts = [system, account].map(
    (each) => `${each.getPublicKey()}: ${signed(operator, each, { type: 'account', limits })}`,
  );
  const credentialsBy = (issuer: Keys): string =>
    [
      '-----BEGIN NATS USER JWT-----',
      signed(issuer, user, { type: 'user', pub: {}, sub: {}, ...unlimited }),
      '------END NATS USER JWT------',
      '',
      '-----BEGIN USER NKEY SEED-----',
      Buffer.from(user.getSeed()).toString(),
      '------END USER NKEY SEED------',
      '',
    ].join('\n');
  return {
    configuration: [
      `operator: ${signed(operator, operator, { type: 'operator' })}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: {\n${accounts.join('\n')}\n}`,
    ].join('\n'),
    credentials: credentialsBy(account),
    ofAStranger: credentialsBy(nkeys.createAccount()),
  };
}
