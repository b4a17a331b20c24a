import { randomBytes, randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import {
  connectTo,
  createTrackingStream,
  runNode,
  testNats,
  testDatabase,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import type { ConversionEvent, RewardLinkEvent, TrackingEvent } from '@perkway/domain';

const CARDS = 12;
const ACCOUNT = 'acme';
const EARLIER = Date.now() - 3_600_000;

/** `npm run audit`: gift cards, links beside what was told of them, the stream beside what is stored. */
describe('the audit', () => {
  let database: TestDatabase;
  let nats: TestNats;
  const pool = randomUUID();

  beforeAll(async () => {
    nats = await testNats();
    await createTrackingStream(nats.url);
    const migrate = async (app: string, url: string) => {
      const { exitCode, output } = await runNode(['--import', 'tsx', `apps/${app}/src/migrate.ts`], {
        env: { DATABASE_URL: url },
      });
      if (exitCode !== 0) throw new Error(output);
    };
    database = await testDatabase('gift-cards', (url) => migrate('gift-cards', url), {
      template: 'audit',
    });
    await migrate('analytics-query', database.urls.apps['analytics-query']);
    await database.query(`create table analytics.tracking_events_2020_01 partition of analytics.tracking_events
      for values from ('2020-01-01Z') to ('2100-01-01Z')`);
    await database.query(`insert into pools (id, owner) values ($1, $2)`, [pool, ACCOUNT]);
    await database.query(
      `insert into inventories (pool_id, denomination, currency, country) values ($1, 25, 'EUR', 'DE')`,
      [pool],
    );
    await database.query(
      `insert into cards select n, 1, gen_random_uuid(), 'sealed' from generate_series(1, ${CARDS}) n`,
    );
    await database.query(`insert into free_cards select 1, n, n from generate_series(1, ${CARDS}) n`);
    await database.query(
      `insert into inventory_counts (inventory_id, slot, loaded) values (1, 16, ${CARDS})`,
    );
  });
  afterAll(async () => {
    await database?.close();
    await nats?.close();
  });

  const audit = async (given: { url?: string; broker?: boolean; args?: string[] } = {}) => {
    const { exitCode, output } = await runNode(
      ['--import', 'tsx', 'tools/audit/src/main.ts', ...(given.args ?? [])],
      {
        env: {
          DATABASE_URL: given.url ?? database.urls.admin,
          ...(given.broker === false ? {} : { NATS_URL: nats.url }),
        },
      },
    );
    return { exitCode, output };
  };

  /** Stores events as the ingest would. */
  const count = async (...events: TrackingEvent[]) => {
    for (const { account, at, id, type, ...rest } of events)
      await database.query(
        `insert into analytics.tracking_events (account_id, occurred_at, id, type, state) values ($1, $2, $3, $4, $5)`,
        [account, new Date(at), id, type, (rest as Partial<RewardLinkEvent>).state],
      );
  };
  const publish = async (...events: TrackingEvent[]) => {
    const connection = await connectTo(nats.url);
    await jetstream(connection).publish('tracking.gift-cards', JSON.stringify({ events }));
    await connection.close();
  };
  /** What the app told of a link since the last time. */
  const takeOutbox = async (): Promise<TrackingEvent[]> => {
    const rows = await database.query<{ event: string }>('delete from tracking_outbox returning event');
    return rows.map(({ event }) => JSON.parse(event) as TrackingEvent);
  };
  const aLink = async (): Promise<string> => {
    const link = randomUUID();
    const event = {
      ...{ v: 1, id: `${link}:generated`, account: ACCOUNT, at: EARLIER, type: 'reward_link' },
      ...{ state: 'generated', pool, denomination: 25, currency: 'EUR', createdBy: 'tests' },
    };
    const [answer] = await database.query<{ outcome: string }>(`select * from reserve_cards($1, true)`, [
      JSON.stringify([
        {
          ...{ link, account: ACCOUNT, pool, denomination: 25, currency: 'EUR', country: 'DE' },
          ...{ expires_at: Math.floor(Date.now() / 1000) + 86_400, created_by: 'tests' },
          ...{ idempotency_key: randomUUID(), body_digest: '00', token_key: 'k1' },
          event: JSON.stringify(event),
        },
      ]),
    ]);
    expect(answer!.outcome).toBe('RESERVED');
    // As long ago as its event.
    await database.query(`update reward_links set created_at = $1 where id = $2`, [new Date(EARLIER), link]);
    return link;
  };
  const reveal = async (link: string) => {
    await database.query('select reveal_link($1)', [link]);
    await database.query(`update reward_links set revealed_at = $1 where id = $2`, [new Date(EARLIER), link]);
  };
  const aConversion = (given: Partial<ConversionEvent> = {}): ConversionEvent => ({
    ...{ v: 1, id: randomBytes(8).toString('hex'), account: ACCOUNT, at: EARLIER, type: 'conversion' },
    ...{ campaign: 'c', journey: 'j' },
    ...given,
  });

  it('is content while everything that was told is there, and counted or under way', async () => {
    const [, waiting, revealed] = [await aLink(), await aLink(), await aLink()];
    await reveal(revealed);
    const told = await takeOutbox();
    expect(told).toHaveLength(4);
    const [early, late] = [true, false].map((is) => told.filter(({ id }) => is !== id.startsWith(waiting)));
    await publish(...early!);
    await count(...early!);
    await database.query(`insert into tracking_outbox (event) values ($1)`, [JSON.stringify(late![0])]);
    // What is younger than the grace may be under way.
    await publish(aConversion());

    const { exitCode, output } = await audit();
    expect(output).toContain('Compared: 3 links, 0 events of the stream.');
    expect(output).toMatch(/Not compared: 4 events of the stream that are younger than \d+ s\./);
    expect(output).toContain('Rows and events agree.');
    expect(exitCode).toBe(0);
    // It is not, any more.
    const hasty = await audit({ args: ['--grace', '0'] });
    expect(hasty.exitCode).toBe(1);
    expect(hasty.output).toMatch(/events that wait in an outbox for longer than 0 s: 1, gift_cards/);
    expect(hasty.output).toMatch(/a conversion that the stream has and that is not counted: 1, \w+ of acme/);
    await count(...(await takeOutbox()));
  });

  it('names each link and reveal that was answered and is gone', async () => {
    const [gone, goneRevealed, hidden] = [await aLink(), await aLink(), await aLink()];
    await reveal(goneRevealed);
    await reveal(hidden);
    await count(...(await takeOutbox()));
    expect((await audit()).exitCode).toBe(0);

    // As a standby that was behind has it.
    await database.query(`
      insert into free_cards select 1, card_id, card_id from reward_links where id in ('${gone}', '${goneRevealed}');
      delete from reward_links where id in ('${gone}', '${goneRevealed}');
      update reward_links set revealed_at = null where id = '${hidden}';
      delete from inventory_counts;
      insert into inventory_counts (inventory_id, slot, loaded, holding, redeemed)
      select 1, 0, ${CARDS}, count(*) filter (where revealed_at is null), count(revealed_at) from reward_links`);
    const { exitCode, output } = await audit();
    expect(exitCode).toBe(1);
    // The cards alone look as if nothing had happened.
    expect(output).toContain('Every card is in exactly one place');
    const both = [gone, goneRevealed].sort().map((link) => `${link} of acme`);
    expect(output).toContain(`WRONG: a link that was answered and is gone: 2, ${both.join(', ')}\n`);
    expect(output).toContain(
      `WRONG: a revealed link that is gone with its reveal: 1, ${goneRevealed} of acme\n`,
    );
    expect(output).toContain(`WRONG: a link that was told to be revealed and is not: 1, ${hidden} of acme\n`);
    await database.query(`delete from analytics.tracking_events where id like any ($1)`, [
      [gone, goneRevealed, hidden].map((link) => `${link}:%`),
    ]);
    await count({
      ...aConversion({ id: `${hidden}:generated` }),
      type: 'reward_link',
      state: 'generated',
    } as never);
  });

  it('finds in the stream what the database has forgotten together with its count', async () => {
    const link = await aLink();
    await publish(...(await takeOutbox()));
    await database.query(`delete from reward_links where id = $1`, [link]);
    const { output } = await audit();
    expect(output).toContain(`WRONG: a link that was answered and is gone: 1, ${link} of acme\n`);
  });

  it('names links that were never counted', async () => {
    const [link, revealed] = [await aLink(), await aLink()];
    await reveal(revealed);
    const told = await takeOutbox();
    await count(...told.filter(({ id }) => id === `${revealed}:generated`));
    const { output } = await audit({ broker: false });
    expect(output).toContain(
      `WRONG: a link that was generated and is not counted as such: 1, ${link} of acme\n`,
    );
    expect(output).toContain(
      `WRONG: a link that was revealed and is not counted as such: 1, ${revealed} of acme\n`,
    );
    expect(output).toContain('Not compared: the stream: no NATS_URL.');
    await count(...told.filter(({ id }) => id !== `${revealed}:generated`));
  });

  it('does not ask for what was put aside, counted under another event, or is not kept', async () => {
    const first = aConversion({ externalId: 'order-1' });
    const second = aConversion({ externalId: 'order-1' });
    await database.query(`insert into analytics.conversion_ids values ($1, 'order-1', $2, $3)`, [
      ACCOUNT,
      first.id,
      new Date(EARLIER),
    ]);
    await count(first);
    await publish(first, second, aConversion({ at: Date.parse('2019-01-01Z') }));
    const { output } = await audit({ args: ['--grace', '0'] });
    // That of the first test.
    expect(output).toMatch(/a conversion that the stream has and that is not counted: 1, /);
    expect(output).not.toContain(second.id);
  });

  it('says what it cannot compare', async () => {
    const { output } = await audit({ url: database.url, broker: false });
    expect(output).toContain('Not compared: stored events: this role may not read events.');
    const reader = new URL(database.urls.apps['gift-cards']);
    await database.query(
      `grant usage on schema analytics to gift_cards; grant select on analytics.tracking_events to gift_cards`,
    );
    const again = await audit({ url: reader.href, broker: false });
    expect(again.output).toContain(
      'Not compared: stored events: this role sees the events of one account at a time.',
    );
  });
});
