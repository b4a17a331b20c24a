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

/** A file of the test's own. */
function file(content: string): string {
  const path = join(folder, randomBytes(6).toString('hex'));
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** @param settings may be changed before a restart */
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

/** Whether the app gets its connection, or in which words it is refused. */
async function outcome(environment: Record<string, string>): Promise<string> {
  const { app } = await launch(environment);
  const nats = app.get(NatsService);
  return Promise.race([nats.connected().then(() => CONNECTED), nats.refused.then(({ message }) => message)]);
}
const CONNECTED = 'connected';
const USER_REFUSED = 'NATS refuses the user: look at NATS_URL, NATS_PASSWORD or NATS_CREDS_FILE.';

describe('the user of an app', () => {
  it('is the one that the URL names', async () => {
    const nats = await testNats();
    running.push(nats);
    expect(await outcome({ NATS_URL: brokerUrlOf('perks', nats.url) })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: nats.url.replace(/:[^:@]+@/, ':wrong@') })).toBe(USER_REFUSED);
    expect(await outcome({ NATS_URL: nats.url.replace(/\/\/.*@/, '//') })).toBe(USER_REFUSED);
  });

  it('is called as the app where there is a password only', async () => {
    const server = await broker({
      moreConfiguration: 'authorization { users: [{ user: perks, password: "p@ss word" }] }',
    });
    expect(await outcome({ NATS_URL: server.url, NATS_PASSWORD: 'p@ss word' })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: server.url, NATS_PASSWORD_FILE: file('p@ss word\n') })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: server.url, NATS_PASSWORD: 'other' })).toBe(USER_REFUSED);
  });

  it('is the one of a token', async () => {
    const server = await broker({ moreConfiguration: 'authorization { token: "s3cret" }' });
    expect(await outcome({ NATS_URL: server.url.replace('//', '//s3cret@') })).toBe(CONNECTED);
  });

  it('is the one of a file of credentials', async () => {
    const { configuration, credentials, ofAStranger } = operatorMode();
    const server = await broker({ moreConfiguration: configuration });
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: file(credentials) })).toBe(CONNECTED);
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: file(ofAStranger) })).toBe(USER_REFUSED);
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: file('nothing') })).toBe(
      'NATS_CREDS_FILE holds no credentials.',
    );
    expect(await outcome({ NATS_URL: server.url, NATS_CREDS_FILE: join(folder, 'none') })).toBe(
      'NATS_CREDS_FILE cannot be read (ENOENT).',
    );
  });

  it('is told in the log, once, what it may not do', async () => {
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

  it('may be refused after a while: the app says so once, stays, and comes back by itself', async () => {
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

describe('several servers', () => {
  it('are enough where one of them answers', async () => {
    const [gone, hanging, there] = [await broker({}), await broker({}), await broker({})];
    await gone.kill();
    hanging.pause();
    expect(await outcome({ NATS_URL: [gone, hanging, there].map(({ url }) => url).join(',') })).toBe(
      CONNECTED,
    );
  });
});

describe('TLS', () => {
  const own = selfSignedCertificate();
  const tlsBroker = async ({ certificate, key } = own): Promise<string> => {
    const { url } = await broker({
      moreConfiguration: `tls { cert_file: "${file(certificate)}", key_file: "${file(key)}" }`,
    });
    return url.replace('127.0.0.1', 'localhost');
  };
  const UNTRUSTED = /^The certificate of the NATS server is not trusted \([A-Z_]+\): look at NATS_CA_FILE\.$/;
  const NO_TLS = 'NATS_URL or NATS_CA_FILE asks for TLS, and the server has none.';

  it('is spoken with a server whose certificate is trusted', async () => {
    const url = await tlsBroker();
    const ca = file(own.certificate);
    for (const address of [url, url.replace('nats:', 'tls:')])
      expect(await outcome({ NATS_URL: address, NATS_CA_FILE: ca })).toBe(CONNECTED);
  });

  it('is not spoken with any other', async () => {
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

  it('is never given up for a server without it', async () => {
    const { url } = await broker({});
    expect(await outcome({ NATS_URL: url.replace('nats:', 'tls:') })).toBe(NO_TLS);
    expect(await outcome({ NATS_URL: url, NATS_CA_FILE: file(own.certificate) })).toBe(NO_TLS);
    expect(await outcome({ NATS_URL: url })).toBe(CONNECTED);
  });
});

/** A server that trusts what its operator has signed, the file of a user of it, and another's, as `nsc` makes them. */
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
