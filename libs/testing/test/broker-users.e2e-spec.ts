import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  replyPrefix,
  BEGIN_ERASURE,
  BROKER_OPERATOR,
  BROKER_USERS,
  GET_REWARD_LINK,
  inboxPrefix,
  limitsSubject,
  parseBrokerUrl,
  RPC_CONTRACTS,
  REVEAL_REWARD_LINK,
  TRACKING_STREAM,
  trackingSubject,
} from '@perkway/domain';
import { brokerUrlOf, connectTo, createTrackingStream, testNats, type TestNats } from '../src';

let nats: TestNats;
const open: NatsConnection[] = [];
beforeAll(async () => {
  nats = await testNats();
  await createTrackingStream(nats.url);
});
afterEach(() => Promise.all(open.splice(0).map((connection) => connection.close())));
afterAll(() => nats.close());

/** Connects as an app and collects the broker's permission errors. */
async function as(user: string) {
  const connection = await connectTo(brokerUrlOf(user, nats.url), { inboxPrefix: inboxPrefix(user) });
  open.push(connection);
  const refused: string[] = [];
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'error') refused.push(status.error.message);
  })();
  /** Returns the permission errors that the action causes. */
  const refusedTo = async (action: (connection: NatsConnection) => void): Promise<string[]> => {
    action(connection);
    // The broker sends its errors before its reply to the flush.
    await connection.flush();
    // Let the status iterator run.
    await new Promise((resolve) => setImmediate(resolve));
    return refused.splice(0);
  };
  return { connection, refusedTo };
}
const listen = (subject: string) => (connection: NatsConnection) =>
  void connection.subscribe(subject, { callback: () => undefined });
const say = (subject: string) => (connection: NatsConnection) => connection.publish(subject, '{}');

const REVEAL = [GET_REWARD_LINK.subject, REVEAL_REWARD_LINK.subject];
const SUBJECTS = RPC_CONTRACTS.map(({ subject }) => subject);
const apps = Object.keys(BROKER_USERS);

describe('the NATS users of the apps', () => {
  it('an unknown user cannot connect', async () => {
    const { servers } = parseBrokerUrl(nats.url);
    const attempts = [
      { servers },
      { servers, user: 'gift-cards', pass: 'guessed' },
      { servers, user: BROKER_OPERATOR, pass: '' },
      { servers, user: 'nobody', pass: 'x' },
      { servers, token: 'x' },
    ];
    for (const attempt of attempts)
      await expect(connect({ ...attempt, maxReconnectAttempts: 0 })).rejects.toThrow(
        /authorization violation/i,
      );
  });

  it.each(apps.filter((app) => app !== 'gift-cards'))('%s cannot subscribe to reveals', async (app) => {
    const { refusedTo } = await as(app);
    for (const subject of [...REVEAL, 'gift-cards.>', '>', '*.*.*', `${inboxPrefix('allocation-page')}.>`])
      if (!BROKER_USERS[app]!.subscribe.includes(subject))
        expect(await refusedTo(listen(subject))).toEqual([
          expect.stringContaining(`Permissions Violation for Subscription to "${subject}"`),
        ]);
  });

  it.each(apps)('%s cannot publish as another app', async (app) => {
    const { refusedTo } = await as(app);
    for (const other of apps.filter((each) => each !== app))
      expect(await refusedTo(say(trackingSubject(other)))).toEqual([
        expect.stringContaining(`Permissions Violation for Publish to "${trackingSubject(other)}"`),
      ]);
    for (const subject of [
      `$JS.API.STREAM.DELETE.${TRACKING_STREAM}`,
      // analytics-query reads and deletes messages for erasures, and purges stored ones when the stream is nearly full.
      ...(app === 'analytics-query'
        ? []
        : [`$JS.API.STREAM.PURGE.${TRACKING_STREAM}`, `$JS.API.STREAM.MSG.GET.${TRACKING_STREAM}`]),
      `$JS.API.CONSUMER.CREATE.${TRACKING_STREAM}.other`,
      `${inboxPrefix(app === 'perks' ? 'boost' : 'perks')}.guess`,
    ])
      expect(await refusedTo(say(subject))).toHaveLength(1);
    const operator = await connectTo(nats.url);
    open.push(operator);
    const { state } = await (await jetstreamManager(operator)).streams.info(TRACKING_STREAM);
    expect(state.messages).toBe(0);
  });

  it.each(apps)('%s shares its rate-limit counts with its own replicas only', async (app) => {
    const { refusedTo } = await as(app);
    const own = limitsSubject(app);
    expect([...(await refusedTo(listen(own))), ...(await refusedTo(say(own)))]).toEqual([]);
    for (const other of apps.filter((each) => each !== app)) {
      expect(await refusedTo(listen(limitsSubject(other)))).toHaveLength(1);
      expect(await refusedTo(say(limitsSubject(other)))).toHaveLength(1);
    }
  });

  it('only its owner subscribes to an RPC contract, and only its callers publish to it', async () => {
    const heard: string[] = [];
    const requested: string[] = [];
    for (const app of apps) {
      const { refusedTo } = await as(app);
      for (const subject of SUBJECTS) {
        if ((await refusedTo(listen(subject))).length === 0) heard.push(`${subject} ${app}`);
        if ((await refusedTo(say(subject))).length === 0) requested.push(`${subject} ${app}`);
      }
    }
    expect(heard).toHaveLength(SUBJECTS.length);
    expect(heard).toContain(`${REVEAL_REWARD_LINK.subject} gift-cards`);
    expect(requested.filter((each) => REVEAL.some((subject) => each.startsWith(subject)))).toEqual(
      REVEAL.map((subject) => `${subject} allocation-page`),
    );
  });

  it('a handler may respond once, to the reply subject of the request, and nowhere else', async () => {
    const [owner, rpcCaller] = [await as('gift-cards'), await as('allocation-page')];
    let reply = '';
    owner.connection.subscribe(REVEAL_REWARD_LINK.subject, {
      callback: (_error, message) => {
        reply = message.reply!;
        message.respond('the card');
      },
    });
    await owner.connection.flush();
    const response = await rpcCaller.connection.request(REVEAL_REWARD_LINK.subject, '{}', { timeout: 5_000 });
    expect(response.string()).toBe('the card');
    expect(await owner.refusedTo(say(reply))).toHaveLength(1);
    expect(await owner.refusedTo(say(`${inboxPrefix('allocation-page')}.x`))).toHaveLength(1);
  });

  it('analytics-query responds only to the reply subjects of its own callers, and the broker grants no reply permission for what it receives', async () => {
    const [owner, rpcCaller] = [await as('analytics-query'), await as('token-issuer')];
    owner.connection.subscribe(BEGIN_ERASURE.subject, {
      callback: (_error, message) => void message.respond('stand-ins'),
    });
    await owner.connection.flush();
    const sendRequest = (prefix: string, timeout: number) =>
      rpcCaller.connection.request(BEGIN_ERASURE.subject, '{}', {
        noMux: true,
        reply: `${prefix}.one`,
        timeout,
      });
    const response = await sendRequest(replyPrefix('token-issuer', 'analytics-query'), 10_000);
    expect(response.string()).toBe('stand-ins');
    // It may not respond to any other subject of the caller's inbox, not even to that of a request.
    await expect(sendRequest(inboxPrefix('token-issuer'), 500)).rejects.toThrow(/timeout/i);
    expect(await owner.refusedTo(say(`${inboxPrefix('token-issuer')}.one`))).not.toEqual([]);
    expect(await owner.refusedTo(say(`${replyPrefix('perks', 'analytics-query')}.one`))).toHaveLength(1);
  });
});
