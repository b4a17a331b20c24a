import { waitFor, type TestKey } from '@perkway/testing';
import { anEvent } from './stored-events.js';
import { WebhooksWorld } from './webhooks-world.js';

const ACCOUNTS = 10;
const WEBHOOKS = 10;
const EVENTS = 20;

describe('a hundred webhooks of ten accounts', () => {
  const world = new WebhooksWorld();
  beforeAll(() => world.start());
  afterAll(() => world.stop());

  it('do not delay each other if some hang, fail or are slow', async () => {
    const good = await world.receiver();
    const hanging = await world.receiver(() => undefined);
    const failing = await world.receiver((response) => void response.writeHead(500).end());
    const slow = await world.receiver(
      (response) => void setTimeout(() => response.writeHead(204).end(), 3_000),
    );
    const accounts: TestKey[] = [];
    let healthy = 0;
    for (let account = 0; account < ACCOUNTS; account++) {
      const key = world.key();
      accounts.push(key);
      await Promise.all(
        Array.from({ length: WEBHOOKS }, (_, index) => {
          // Every second account has one webhook of each bad kind.
          const bad = account % 2 === 0 ? [hanging, failing, slow][index] : undefined;
          if (!bad) healthy += 1;
          return world.put(key, `w${index}`, { url: `${(bad ?? good).url}/${key.account}/w${index}` });
        }),
      );
    }
    for (const { account } of accounts)
      await world.store({ account }, ...Array.from({ length: EVENTS }, () => anEvent()));
    const wanted = healthy * EVENTS;
    // A hanging attempt ends after 15 s, so a delivery that waited for one would arrive later.
    const started = Date.now();
    const arrived = () => new Set(good.received.map(({ id, path }) => `${path} ${id}`)).size;
    await waitFor(() => arrived() === wanted, 'the deliveries to healthy receivers', 150_000);
    const [{ hung }] = (await world.database.query(
      `select count(*)::int as hung from deliveries where last_error like 'No response within%'`,
    )) as [{ hung: number }];
    // On a busy machine, attempts at healthy receivers may end after 15 s and be repeated, too.
    if (Date.now() - started < 15_000) expect([hung, good.received.length]).toEqual([0, wanted]);
    // A further event arrives promptly too, while the bad webhooks still fail.
    const event = anEvent();
    await world.store(accounts[0]!, event);
    const webhooks = () => new Set(good.received.filter(({ id }) => id === event.id).map(({ path }) => path));
    await waitFor(
      () => webhooks().size === WEBHOOKS - 3,
      'one more event at the healthy receivers of an account with bad ones',
    );
  });

  it('do not delay each other if the hanging ones could use every attempt of their account', async () => {
    const key = world.key();
    const good = await world.receiver();
    const hanging = await world.receiver(() => undefined);
    for (let index = 0; index < 5; index++)
      await world.put(key, `h${index}`, { url: `${hanging.url}/h${index}` });
    await world.put(key, 'healthy', { url: good.url });
    await world.store(key, ...Array.from({ length: EVENTS }, () => anEvent()));
    await waitFor(() => good.received.length >= EVENTS, 'the deliveries to the healthy receiver');
    const hung = await world.database.query(
      `select from deliveries d join webhooks w on w.key = d.webhook where w.account_id = $1 and d.attempts > 0 and d.state = 'pending'`,
      [key.account],
    );
    expect(hung).toEqual([]);
  });
});
