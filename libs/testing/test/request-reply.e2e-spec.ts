import { Controller, Get, Inject, Module, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { authEnv, AuthModule, CurrentCaller } from '@perkway/auth';
import {
  invalidField,
  MAX_ANSWER_BYTES,
  unavailable,
  type Caller,
  type Lookup,
  type LookupRequest,
  type Question,
} from '@perkway/domain';
import {
  Answers,
  loadEnv,
  NatsService,
  platformEnv,
  Public,
  RpcClient,
  type AppDefinition,
} from '@perkway/platform';
import {
  aKey,
  answer,
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

const asked = { owner: 'perks', askers: ['links'], away: 'The echo service' } as const;
const ECHO: Question<{ text: string }, { echo: string }> = { ...asked, subject: 'echo' };
/** What is known of an id is a text as long as the number it ends with, of characters that take six bytes each. */
const TEXTS: Lookup<string> = { ...asked, subject: 'texts', atOnce: 500 };
const textOf = (id: string) => '\u0001'.repeat(Number(id.split('-')[1]));

const QUESTIONS: Record<string, typeof ECHO> = {
  echo: ECHO,
  silent: { ...ECHO, subject: 'silent' },
  nobody: { ...ECHO, subject: 'nobody' },
};

let echoed = 0;
/** How many ids each message asked for. */
let lookedUp: number[] = [];

@Controller()
class EchoController {
  @Answers(ECHO)
  echo(@Payload() { text }: { text: string }) {
    if (text === 'refuse') throw invalidField('text', 'must not be "refuse"');
    if (text === 'fail') throw new Error('a fault with the text s3cr3t-text-of-a-request');
    if (text === 'no-database') throw unavailable('The database');
    echoed += 1;
    return { echo: text === 'long' ? 'x'.repeat(2 * MAX_ANSWER_BYTES) : text };
  }

  @Answers(TEXTS)
  texts(@Payload() { ids }: LookupRequest) {
    lookedUp.push(ids.length);
    return Object.fromEntries(ids.filter((id) => id.includes('-')).map((id) => [id, textOf(id)]));
  }
}
@Module({ controllers: [EchoController] })
class OwnerModule {}

@Controller()
class CallerController {
  constructor(@Inject(RpcClient) private readonly rpc: RpcClient) {}

  @Public()
  @Get('ask')
  ask(@Query('subject') subject: string, @Query('text') text: string) {
    return this.rpc.ask(QUESTIONS[subject]!, { text });
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
  answersRequests: true,
});
const caller = (natsUrl: string): AppDefinition => ({
  name: 'caller',
  module: CallerModule,
  env: env(natsUrl),
});

describe('apps that ask each other over NATS', () => {
  let nats: TestNats;
  const hello = (app: LaunchedApp) => http(app).get('/ask?subject=echo&text=hello');
  /** When the broker is reached. */
  const untilAnswered = (app: LaunchedApp) =>
    waitFor(async () => (await hello(app)).status === 200, 'an answer', 8_000);
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

  it('answer what they own', async () => {
    await launched(owner(nats.url));
    const asking = await launched(caller(nats.url));
    await untilAnswered(asking);
    await hello(asking).expect(200, { echo: 'hello' });
  });

  it('answer once, whichever replica it is', async () => {
    const replicas = [await launched(owner(nats.url)), await launched(owner(nats.url))];
    const asking = await launched(caller(nats.url));
    for (const { app } of replicas) await app.get(NatsService).connected();
    await untilAnswered(asking);
    echoed = 0;
    const texts = Array.from({ length: 30 }, (_, i) => `text-${i}`);
    const answers = await Promise.all(
      texts.map(async (text) => (await http(asking).get(`/ask?subject=echo&text=${text}`)).body),
    );
    expect(answers).toEqual(texts.map((text) => ({ echo: text })));
    expect(echoed).toBe(30);
  });

  it.each([
    ['fail', 'echo: its owner answered INTERNAL_ERROR'],
    ['refuse', 'echo: its owner answered VALIDATION_FAILED'],
    ['long', 'echo: its owner answered PAYLOAD_TOO_LARGE'],
    ['x'.repeat(2 * MAX_ANSWER_BYTES), 'echo: the request is larger than a message may be'],
  ])('call a fault a fault and log it on either side: %.8s', async (text, cause) => {
    const owning = await launched(owner(nats.url));
    const asking = await launched(caller(nats.url));
    await untilAnswered(asking);
    echoed = 0;
    const rpc = asking.app.get(RpcClient);
    await expect(rpc.ask(ECHO, { text })).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      cause: { message: cause },
    });
    // Asking again would not help.
    expect(echoed).toBe(text === 'long' ? 1 : 0);
    if (text.length > 10) return;
    const response = await http(asking).get(`/ask?subject=echo&text=${text}`).expect(500);
    expect(response.body).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(asking.logs.join('')).toContain(cause);
    // Nest has one logger in a process, that of the app which started last.
    expect([...owning.logs, ...asking.logs].join('')).toMatch(/request over NATS failed|max_payload/);
  });

  it('answer 503 while the owner lacks its database', async () => {
    await launched(owner(nats.url));
    const asking = await launched(caller(nats.url));
    await untilAnswered(asking);
    const { body } = await http(asking).get('/ask?subject=echo&text=no-database').expect(503);
    expect(body).toMatchObject({ detail: 'The echo service is not available, please try again' });
    expect(asking.logs.join('')).toContain('echo: its owner answered DEPENDENCY_UNAVAILABLE');
  });

  it('look up any number of ids, whatever size the answer has', async () => {
    await launched(owner(nats.url));
    const asking = await launched(caller(nats.url));
    await untilAnswered(asking);
    const lookUp = (ids: string[]) => asking.app.get(RpcClient).ask(TEXTS, { ids });
    const known = (ids: string[]) => Object.fromEntries(ids.map((id) => [id, textOf(id)]));
    const many = (count: number, characters: number) =>
      Array.from({ length: count }, (_, index) => `${index}-${characters}`);

    const small = many(1_200, 10);
    lookedUp = [];
    expect(await lookUp([...small, 'unknown', '__proto__'])).toEqual(known(small));
    expect(lookedUp).toEqual([500, 500, 202]);

    // Seven of these fit into a message.
    const large = many(20, 23_000);
    lookedUp = [];
    expect(await lookUp(['unknown', ...large])).toEqual(known(large));
    expect(lookedUp).toEqual([21, 8, 6]);

    await expect(lookUp(['1-10', `2-${MAX_ANSWER_BYTES}`])).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      cause: { message: 'texts: its owner answered PAYLOAD_TOO_LARGE' },
    });
    expect(await lookUp([])).toEqual({});
  });

  it('answer 503 within seconds when nobody owns the subject or its owner is stuck', async () => {
    const silent = await answer(nats.url, QUESTIONS.silent!, () => undefined);
    running.push(silent);
    const asking = await launched(caller(nats.url));
    await launched(owner(nats.url));
    await untilAnswered(asking);
    for (const subject of ['nobody', 'silent']) {
      const askedAt = Date.now();
      const { body, headers } = await http(asking).get(`/ask?subject=${subject}&text=hello`).expect(503);
      expect(headers['retry-after']).toBe('2');
      expect(body).toMatchObject({ detail: 'The echo service is not available, please try again' });
      expect(Date.now() - askedAt).toBeLessThan(3_000);
    }
    expect(asking.logs.join('')).toContain('nobody: nobody is there to answer');
    expect(asking.logs.join('')).toContain('silent: no answer in time');
    // One retry.
    expect(silent.requests).toEqual([{ text: 'hello' }, { text: 'hello' }]);
  });

  it('learn over NATS whose key it is, and that it was revoked', async () => {
    const key = aKey('acme', 'ADMIN');
    const accounts = await fakeAccounts(nats.url, key);
    running.push(accounts);
    const asking = await launched(caller(nats.url));
    await asking.app.get(NatsService).connected();
    const me = () => http(asking, { key: key.key.toUpperCase() }).get('/me');
    await me().expect(200, { account: 'acme', role: 'ADMIN' });

    accounts.revoke(key);
    await waitFor(async () => void (await me().expect(401)), 'the end of the key', 5_000);
    expect(asking.logs.join('').toLowerCase()).not.toContain(key.key);
  });

  it('start, answer and stop without a broker, and work when it comes', async () => {
    const late = await testNats();
    running.push(late);
    await late.kill();
    const asking = await launched(caller(late.url));
    const owning = await launched(owner(late.url));
    await http(asking).get('/livez').expect(200);
    await http(asking).get('/readyz').expect(200);
    await hello(asking).expect(503);
    const stopping = await launchApp(owner(late.url));
    await stopping.close();

    await late.server.start();
    await owning.app.get(NatsService).connected();
    await untilAnswered(asking);
  });

  it('work again after the broker was killed', async () => {
    const mortal = await testNats();
    running.push(mortal);
    await launched(owner(mortal.url));
    const asking = await launched(caller(mortal.url));
    await untilAnswered(asking);
    await mortal.kill();
    await hello(asking).expect(503);
    await mortal.server.start();
    await untilAnswered(asking);
    expect(asking.logs.join('')).toContain('NATS connection restored');
  });
});
