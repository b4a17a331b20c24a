import { Controller, Get, Module, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { authEnv, AuthModule, CurrentCaller } from '@perkway/auth';
import {
  invalidField,
  MAX_RESPONSE_BYTES,
  unavailable,
  type Caller,
  type Lookup,
  type LookupRequest,
  type RpcContract,
} from '@perkway/domain';
import {
  RpcHandler,
  loadEnv,
  NatsService,
  platformEnv,
  Public,
  RpcClient,
  type AppDefinition,
} from '@perkway/platform';
import {
  aKey,
  respond,
  closeAll,
  fakeAccounts,
  http,
  launchApp,
  testNats,
  testSecrets,
  waitFor,
  type LaunchedApp,
  type TestNats,
} from '../src';

const requested = { owner: 'perks', callers: ['links'], serviceName: 'The echo service' } as const;
const ECHO: RpcContract<{ text: string }, { echo: string }> = { ...requested, subject: 'echo' };
/** Maps an id such as `2-500` to a string of 500 characters that take six bytes each in JSON. */
const TEXTS: Lookup<string> = { ...requested, subject: 'texts', maxIdsPerMessage: 500 };
const textOf = (id: string) => '\u0001'.repeat(Number(id.split('-')[1]));

const RPC_CONTRACTS: Record<string, typeof ECHO> = {
  echo: ECHO,
  silent: { ...ECHO, subject: 'silent' },
  nobody: { ...ECHO, subject: 'nobody' },
};

/** On a busy machine, a reply may take longer than the default limit. */
const BUSY_MS = 10_000;

let echoed = 0;
/** Number of ids in each message. */
let lookedUp: number[] = [];

@Controller()
class EchoController {
  @RpcHandler(ECHO)
  echo(@Payload() { text }: { text: string }) {
    if (text === 'refuse') throw invalidField('text', 'must not be "refuse"');
    if (text === 'fail') throw new Error('a fault with the text s3cr3t-text-of-a-request');
    if (text === 'no-database') throw unavailable('The database');
    echoed += 1;
    return { echo: text === 'long' ? 'x'.repeat(2 * MAX_RESPONSE_BYTES) : text };
  }

  @RpcHandler(TEXTS)
  texts(@Payload() { ids }: LookupRequest) {
    lookedUp.push(ids.length);
    return Object.fromEntries(ids.filter((id) => id.includes('-')).map((id) => [id, textOf(id)]));
  }
}
@Module({ controllers: [EchoController] })
class OwnerModule {}

@Controller()
class CallerController {
  constructor(private readonly rpc: RpcClient) {}

  @Public()
  @Get('ask')
  request(@Query('subject') subject: string, @Query('text') text: string) {
    return this.rpc.request(RPC_CONTRACTS[subject]!, { text });
  }

  @Get('me')
  me(@CurrentCaller() caller: Caller) {
    return { account: caller.account, role: caller.role };
  }
}
@Module({ imports: [AuthModule], controllers: [CallerController] })
class CallerModule {}

const env = (natsUrl: string) =>
  loadEnv(
    { ...platformEnv, ...authEnv },
    { PORT: '1', NATS_URL: natsUrl, API_KEY_PEPPER: testSecrets().apiKeyPepper, RATE_LIMIT_PER_KEY: '0' },
  );
const owner = (natsUrl: string): AppDefinition => ({
  name: 'owner',
  module: OwnerModule,
  env: env(natsUrl),
  hasRpcHandlers: true,
});
const caller = (natsUrl: string): AppDefinition => ({
  name: 'caller',
  module: CallerModule,
  env: env(natsUrl),
});

describe('request/reply between apps over NATS', () => {
  let nats: TestNats;
  const hello = (app: LaunchedApp) => http(app).get('/ask?subject=echo&text=hello');
  /** Waits until the broker connection works. */
  const untilResolved = (app: LaunchedApp) =>
    waitFor(async () => (await hello(app)).status === 200, 'a response');
  const running: { close(): Promise<void> }[] = [];
  const launched = async (definition: AppDefinition): Promise<LaunchedApp> => {
    const app = await launchApp(definition);
    running.push(app);
    return app;
  };

  beforeAll(async () => {
    nats = await testNats();
  });
  afterEach(() => closeAll(...running.splice(0)));
  afterAll(() => nats.close());

  it('gets the response of the handler', async () => {
    await launched(owner(nats.url));
    const callerApp = await launched(caller(nats.url));
    await untilResolved(callerApp);
    await hello(callerApp).expect(200, { echo: 'hello' });
  });

  it('is handled once, by any replica', async () => {
    const replicas = [await launched(owner(nats.url)), await launched(owner(nats.url))];
    const callerApp = await launched(caller(nats.url));
    for (const { app } of replicas) await app.get(NatsService).connected();
    await untilResolved(callerApp);
    echoed = 0;
    const texts = Array.from({ length: 30 }, (_, i) => `text-${i}`);
    const responses = await Promise.all(
      texts.map((text) => callerApp.app.get(RpcClient).request(ECHO, { text }, BUSY_MS)),
    );
    expect(responses).toEqual(texts.map((text) => ({ echo: text })));
    expect(echoed).toBe(30);
  });

  it.each([
    ['fail', 'echo: its owner responded with INTERNAL_ERROR'],
    ['refuse', 'echo: its owner responded with VALIDATION_FAILED'],
    ['long', 'echo: its owner responded with PAYLOAD_TOO_LARGE'],
    ['x'.repeat(2 * MAX_RESPONSE_BYTES), 'echo: the request is too large for a message'],
  ])('reports a fault as INTERNAL_ERROR and logs it on both sides: %.8s', async (text, cause) => {
    const owning = await launched(owner(nats.url));
    const callerApp = await launched(caller(nats.url));
    await untilResolved(callerApp);
    echoed = 0;
    const rpc = callerApp.app.get(RpcClient);
    await expect(rpc.request(ECHO, { text }, BUSY_MS)).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      cause: { message: cause },
    });
    // A retry would not help.
    expect(echoed).toBe(text === 'long' ? 1 : 0);
    if (text.length > 10) return;
    const response = await http(callerApp).get(`/ask?subject=echo&text=${text}`).expect(500);
    expect(response.body).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(callerApp.logs.join('')).toContain(cause);
    // Nest has one logger per process: that of the app that started last.
    expect([...owning.logs, ...callerApp.logs].join('')).toMatch(/request over NATS failed|max_payload/);
  });

  it('responds 503 while the handler has no database', async () => {
    await launched(owner(nats.url));
    const callerApp = await launched(caller(nats.url));
    await untilResolved(callerApp);
    const { body } = await http(callerApp).get('/ask?subject=echo&text=no-database').expect(503);
    expect(body).toMatchObject({ detail: 'The echo service is not available, please try again' });
    expect(callerApp.logs.join('')).toContain('echo: its owner responded with DEPENDENCY_UNAVAILABLE');
  });

  it('looks up any number of ids with responses of any size', async () => {
    await launched(owner(nats.url));
    const callerApp = await launched(caller(nats.url));
    await untilResolved(callerApp);
    const lookUp = (ids: string[]) => callerApp.app.get(RpcClient).request(TEXTS, { ids }, BUSY_MS);
    const known = (ids: string[]) => Object.fromEntries(ids.map((id) => [id, textOf(id)]));
    const many = (count: number, characters: number) =>
      Array.from({ length: count }, (_, index) => `${index}-${characters}`);

    const small = many(1_200, 10);
    lookedUp = [];
    expect(await lookUp([...small, 'unknown', '__proto__'])).toEqual(known(small));
    expect(lookedUp).toEqual([500, 500, 202]);

    // Seven of these fit into one message.
    const large = many(20, 23_000);
    lookedUp = [];
    expect(await lookUp(['unknown', ...large])).toEqual(known(large));
    expect(lookedUp).toEqual([21, 8, 6]);

    await expect(lookUp(['1-10', `2-${MAX_RESPONSE_BYTES}`])).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      cause: { message: 'texts: its owner responded with PAYLOAD_TOO_LARGE' },
    });
    expect(await lookUp([])).toEqual({});
  });

  it('responds 503 within seconds if there is no handler or it hangs', async () => {
    const silent = await respond(nats.url, RPC_CONTRACTS.silent!, () => undefined);
    running.push(silent);
    const callerApp = await launched(caller(nats.url));
    await launched(owner(nats.url));
    await untilResolved(callerApp);
    for (const subject of ['nobody', 'silent']) {
      const askedAt = Date.now();
      const { body, headers } = await http(callerApp).get(`/ask?subject=${subject}&text=hello`).expect(503);
      expect(headers['retry-after']).toBe('2');
      expect(body).toMatchObject({ detail: 'The echo service is not available, please try again' });
      expect(Date.now() - askedAt).toBeLessThan(15_000);
    }
    expect(callerApp.logs.join('')).toContain('nobody: no responders');
    expect(callerApp.logs.join('')).toContain('silent: no response in time');
    // One retry.
    expect(silent.requests).toEqual([{ text: 'hello' }, { text: 'hello' }]);
  });

  it('resolves API keys over NATS and notices when one is revoked', async () => {
    const key = aKey('acme', 'ADMIN');
    const accounts = await fakeAccounts(nats.url, key);
    running.push(accounts);
    const callerApp = await launched(caller(nats.url));
    await callerApp.app.get(NatsService).connected();
    const me = () => http(callerApp, { key: key.key.toUpperCase() }).get('/me');
    await me().expect(200, { account: 'acme', role: 'ADMIN' });

    accounts.revoke(key);
    await waitFor(async () => void (await me().expect(401)), 'the key to be rejected');
    expect(callerApp.logs.join('').toLowerCase()).not.toContain(key.key);
  });

  it('starts, serves and stops without a broker, and works when one appears', async () => {
    const late = await testNats();
    running.push(late);
    await late.kill();
    const callerApp = await launched(caller(late.url));
    const owning = await launched(owner(late.url));
    await http(callerApp).get('/livez').expect(200);
    await http(callerApp).get('/readyz').expect(200);
    await hello(callerApp).expect(503);
    const stopping = await launchApp(owner(late.url));
    await stopping.close();

    await late.server.start();
    await owning.app.get(NatsService).connected();
    await untilResolved(callerApp);
  });

  it('works again after the broker was killed', async () => {
    const mortal = await testNats();
    running.push(mortal);
    await launched(owner(mortal.url));
    const callerApp = await launched(caller(mortal.url));
    await untilResolved(callerApp);
    await mortal.kill();
    await hello(callerApp).expect(503);
    await mortal.server.start();
    await untilResolved(callerApp);
    expect(callerApp.logs.join('')).toContain('NATS connection restored');
  });
});
