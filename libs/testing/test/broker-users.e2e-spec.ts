import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  answersPrefix,
  BEGIN_ERASURE,
  BROKER_OPERATOR,
  BROKER_USERS,
  GET_REWARD_LINK,
  inboxPrefix,
  parseBrokerUrl,
  QUESTIONS,
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

/** A client as an app, and what the broker has refused it so far. */
async function as(user: string) {
  const connection = await connectTo(brokerUrlOf(user, nats.url), { inboxPrefix: inboxPrefix(user) });
  open.push(connection);
  const refused: string[] = [];
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'error') refused.push(status.error.message);
  })();
  /** What it is refused when it does this. */
  const refusedTo = async (action: (connection: NatsConnection) => void): Promise<string[]> => {
    action(connection);
    // What the broker has to say comes before its answer to this.
    await connection.flush();
    // The iterator above gets its turn.
    await new Promise((resolve) => setImmediate(resolve));
    return refused.splice(0);
  };
  return { connection, refusedTo };
}
const listen = (subject: string) => (connection: NatsConnection) =>
  void connection.subscribe(subject, { callback: () => undefined });
const say = (subject: string) => (connection: NatsConnection) => connection.publish(subject, '{}');

const REVEAL = [GET_REWARD_LINK.subject, REVEAL_REWARD_LINK.subject];
const SUBJECTS = QUESTIONS.map(({ subject }) => subject);
const apps = Object.keys(BROKER_USERS);

describe('the users of the broker', () => {
  test('a stranger is not let in', async () => {
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

  test.each(apps.filter((app) => app !== 'gift-cards'))(
    '%s cannot hear what recipients reveal',
    async (app) => {
      const { refusedTo } = await as(app);
      for (const subject of [...REVEAL, 'gift-cards.>', '>', '*.*.*', `${inboxPrefix('allocation-page')}.>`])
        if (!BROKER_USERS[app]!.subscribe.includes(subject))
          expect(await refusedTo(listen(subject))).toEqual([
            expect.stringContaining(`Permissions Violation for Subscription to "${subject}"`),
          ]);
    },
  );

  test.each(apps)('%s cannot forge what another has counted', async (app) => {
    const { refusedTo } = await as(app);
    for (const other of apps.filter((each) => each !== app))
      expect(await refusedTo(say(trackingSubject(other)))).toEqual([
        expect.stringContaining(`Permissions Violation for Publish to "${trackingSubject(other)}"`),
      ]);
    for (const subject of [
      `$JS.API.STREAM.DELETE.${TRACKING_STREAM}`,
      // The ingest reads them all, and drops those that it has stored.
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

  test('each question is heard by its owner and asked by its askers, and by nobody else', async () => {
    const heard: string[] = [];
    const asked: string[] = [];
    for (const app of apps) {
      const { refusedTo } = await as(app);
      for (const subject of SUBJECTS) {
        if ((await refusedTo(listen(subject))).length === 0) heard.push(`${subject} ${app}`);
        if ((await refusedTo(say(subject))).length === 0) asked.push(`${subject} ${app}`);
      }
    }
    expect(heard).toHaveLength(SUBJECTS.length);
    expect(heard).toContain(`${REVEAL_REWARD_LINK.subject} gift-cards`);
    expect(asked.filter((each) => REVEAL.some((subject) => each.startsWith(subject)))).toEqual(
      REVEAL.map((subject) => `${subject} allocation-page`),
    );
  });

  test('who answers may do so where it was asked, once, and nowhere else', async () => {
    const [owner, asker] = [await as('gift-cards'), await as('allocation-page')];
    let reply = '';
    owner.connection.subscribe(REVEAL_REWARD_LINK.subject, {
      callback: (_error, message) => {
        reply = message.reply!;
        message.respond('the card');
      },
    });
    await owner.connection.flush();
    const answer = await asker.connection.request(REVEAL_REWARD_LINK.subject, '{}', { timeout: 5_000 });
    expect(answer.string()).toBe('the card');
    expect(await owner.refusedTo(say(reply))).toHaveLength(1);
    expect(await owner.refusedTo(say(`${inboxPrefix('allocation-page')}.x`))).toHaveLength(1);
  });

  test('the ingest answers where its askers want its answers alone, and the broker remembers nothing of what it is delivered', async () => {
    const [owner, asker] = [await as('analytics-query'), await as('token-issuer')];
    owner.connection.subscribe(BEGIN_ERASURE.subject, {
      callback: (_error, message) => void message.respond('stand-ins'),
    });
    await owner.connection.flush();
    const ask = (prefix: string) =>
      asker.connection.request(BEGIN_ERASURE.subject, '{}', {
        noMux: true,
        reply: `${prefix}.one`,
        timeout: 500,
      });
    expect((await ask(answersPrefix('token-issuer', 'analytics-query'))).string()).toBe('stand-ins');
    // Here a message that it received could be answered otherwise.
    await expect(ask(inboxPrefix('token-issuer'))).rejects.toThrow(/timeout/i);
    expect(await owner.refusedTo(say(`${inboxPrefix('token-issuer')}.one`))).not.toEqual([]);
    expect(await owner.refusedTo(say(`${answersPrefix('perks', 'analytics-query')}.one`))).toHaveLength(1);
  });
});
