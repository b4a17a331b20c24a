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
import pg from 'pg';
import { audit } from '../src';

const CARDS = 12;
const ACCOUNT = 'acme';
const EARLIER = Date.now() - 3_600_000;

interface Given {
  url?: string;
  broker?: boolean;
  graceS?: number;
}

/** Gift cards, links and their events, the stream and the stored events. */
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

  const run = ({ url = database.urls.admin, broker = true, graceS }: Given = {}) =>
    audit({ databaseUrl: url, natsUrl: broker ? nats.url : undefined, graceS });

  /** Stores events as the ingest does. */
  const count = async (...events: TrackingEvent[]) => {
    for (const { account, at, id, type, ...rest } of events)
      await database.query(
        `insert into analytics.tracking_events (account_id, occurred_at, id, type, state, external_id)
         values ($1, $2, $3, $4, $5, $6)`,
        [
          ...[account, new Date(at), id, type, (rest as Partial<RewardLinkEvent>).state],
          (rest as Partial<ConversionEvent>).externalId,
        ],
      );
  };
  const publish = async (...events: TrackingEvent[]) => {
    const connection = await connectTo(nats.url);
    await jetstream(connection).publish('tracking.gift-cards', JSON.stringify({ events }));
    await connection.close();
  };
  /** Returns and removes the events that the app wrote to its outbox. */
  const takeOutbox = async (): Promise<TrackingEvent[]> => {
    const rows = await database.query<{ event: string }>('delete from tracking_outbox returning event');
    return rows.map(({ event }) => JSON.parse(event) as TrackingEvent);
  };
  const aLink = async (): Promise<string> => {
    const link = randomUUID();
    const [response] = await database.query<{ outcome: string }>(`select * from reserve_links($1, true)`, [
      JSON.stringify([
        {
          link,
          account: ACCOUNT,
          pool,
          denomination: 25,
          currency: 'EUR',
          country: 'DE',
          expires_at: Math.floor(Date.now() / 1000) + 86_400,
          created_by: 'tests',
          idempotency_key: randomUUID(),
          body_digest: '00',
          token_key: 'k1',
        },
      ]),
    ]);
    expect(response!.outcome).toBe('RESERVED');
    // Moves the link and its event to an earlier time.
    await database.query(`update reward_links set created_at = $1 where id = $2`, [new Date(EARLIER), link]);
    await database.query(
      `update tracking_outbox set event = jsonb_set(event::jsonb, '{at}', to_jsonb($1::bigint)) where event::jsonb->>'id' = $2`,
      [EARLIER, `${link}:generated`],
    );
    return link;
  };
  const reveal = async (link: string) => {
    await database.query('select reveal_link($1)', [link]);
    await database.query(`update reward_links set revealed_at = $1 where id = $2`, [new Date(EARLIER), link]);
  };
  const aConversion = (given: Partial<ConversionEvent> = {}): ConversionEvent => ({
    v: 1,
    id: randomBytes(8).toString('hex'),
    account: ACCOUNT,
    at: EARLIER,
    type: 'conversion',
    campaign: 'c',
    journey: 'j',
    ...given,
  });

  it('passes if every event is stored or still in transit', async () => {
    const [, waiting, revealed] = [await aLink(), await aLink(), await aLink()];
    await reveal(revealed);
    const relayed = await takeOutbox();
    expect(relayed).toHaveLength(4);
    const [early, late] = [true, false].map((is) =>
      relayed.filter(({ id }) => is !== id.startsWith(waiting)),
    );
    await publish(...early!);
    await count(...early!);
    await database.query(`insert into tracking_outbox (event) values ($1)`, [JSON.stringify(late![0])]);
    // Events younger than the grace period may be in transit.
    await publish(aConversion());

    const { passed, output } = await run();
    expect(output).toContain('Compared: 3 links, 0 events of the stream.');
    expect(output).toMatch(/Not compared: 4 events of the stream younger than \d+ s\./);
    expect(output).toContain('Rows and events agree.');
    expect(passed).toBe(true);
    // Without a grace period it is late.
    const hasty = await run({ graceS: 0 });
    expect(hasty.passed).toBe(false);
    expect(hasty.output).toMatch(/events in an outbox for longer than 0 s: 1, gift_cards/);
    expect(hasty.output).toMatch(/a conversion in the stream that is not counted: 1, \w+ of acme/);
    // The command says the same.
    for (const { exitCode, args } of [
      { exitCode: 0, args: [] },
      { exitCode: 1, args: ['--grace', '0', '--json'] },
    ]) {
      const env = { DATABASE_URL: database.urls.admin, NATS_URL: nats.url };
      const command = await runNode(['--import', 'tsx', 'tools/perkway/src/audit.ts', ...args], { env });
      expect(command.exitCode).toBe(exitCode);
      if (exitCode === 0) expect(command.output).toContain('Rows and events agree.');
      else expect(JSON.parse(command.output)).toMatchObject({ passed: false, findings: [] });
    }
    await count(...(await takeOutbox()));
  });

  it('names each acknowledged link and reveal that is missing', async () => {
    const [gone, goneRevealed, hidden] = [await aLink(), await aLink(), await aLink()];
    await reveal(goneRevealed);
    await reveal(hidden);
    await count(...(await takeOutbox()));
    expect((await run()).passed).toBe(true);

    // Simulates a standby that was behind.
    await database.query(`
      insert into free_cards select 1, card_id, card_id from reward_links where id in ('${gone}', '${goneRevealed}');
      delete from reward_links where id in ('${gone}', '${goneRevealed}');
      update reward_links set revealed_at = null where id = '${hidden}';
      delete from inventory_counts;
      insert into inventory_counts (inventory_id, slot, loaded, holding, redeemed)
      select 1, 0, ${CARDS}, count(*) filter (where revealed_at is null), count(revealed_at) from reward_links`);
    const { passed, output } = await run();
    expect(passed).toBe(false);
    // The cards alone look correct.
    expect(output).toContain('Every card is in exactly one place');
    const both = [gone, goneRevealed].sort().map((link) => `${link} of acme`);
    expect(output).toContain(`WRONG: an acknowledged link that is missing: 2, ${both.join(', ')}\n`);
    expect(output).toContain(
      `WRONG: a revealed link that is missing with its reveal: 1, ${goneRevealed} of acme\n`,
    );
    expect(output).toContain(
      `WRONG: a link with a revealed event that is not revealed: 1, ${hidden} of acme\n`,
    );
    await database.query(`delete from analytics.tracking_events where id like any ($1)`, [
      [gone, goneRevealed, hidden].map((link) => `${link}:%`),
    ]);
    await count({
      ...aConversion({ id: `${hidden}:generated` }),
      type: 'reward_link',
      state: 'generated',
    } as never);
  });

  it('finds in the stream what the database lost together with its stored event', async () => {
    const link = await aLink();
    await publish(...(await takeOutbox()));
    await database.query(`delete from reward_links where id = $1`, [link]);
    const { output } = await run();
    expect(output).toContain(`WRONG: an acknowledged link that is missing: 1, ${link} of acme\n`);
  });

  it('names links that were never counted', async () => {
    const [link, revealed] = [await aLink(), await aLink()];
    await reveal(revealed);
    const relayed = await takeOutbox();
    await count(...relayed.filter(({ id }) => id === `${revealed}:generated`));
    const { output } = await run({ broker: false });
    expect(output).toContain(
      `WRONG: a link that was generated but not counted as such: 1, ${link} of acme\n`,
    );
    expect(output).toContain(
      `WRONG: a link that was revealed but not counted as such: 1, ${revealed} of acme\n`,
    );
    expect(output).toContain('Not compared: the stream: no NATS_URL.');
    await count(...relayed.filter(({ id }) => id !== `${revealed}:generated`));
  });

  it('does not report a link that is created and counted while it reads', async () => {
    const query = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
    let link: string | undefined;
    const spy = jest.spyOn(pg.Client.prototype, 'query') as unknown as jest.SpyInstance;
    spy.mockImplementation(async function (this: pg.Client, ...args: unknown[]) {
      const result = await query.apply(this, args);
      // The first snapshot is taken now.
      if (String(args[0]).startsWith('declare batches')) {
        spy.mockRestore();
        link = await aLink();
        await database.query('update reward_links set created_at = now() where id = $1', [link]);
        await count(...(await takeOutbox()));
      }
      return result;
    });
    const { output } = await run({ broker: false });
    expect(link).toBeDefined();
    expect(output).not.toContain(link);
  });

  it('does not expect events that were dead-lettered, deduplicated or expired', async () => {
    const first = aConversion({ externalId: 'order-1' });
    const second = aConversion({ externalId: 'order-1' });
    const repeated = { ...first, at: EARLIER + 1 };
    await count(first);
    await publish(first, second, repeated, aConversion({ at: Date.parse('2019-01-01Z') }));
    const { output } = await run({ graceS: 0 });
    // The conversion of the first test.
    expect(output).toMatch(/a conversion in the stream that is not counted: 1, /);
    expect(output).not.toContain(second.id);
    expect(output).not.toContain(first.id);
  });

  it('says what it cannot compare', async () => {
    const { output } = await run({ url: database.url, broker: false });
    expect(output).toContain('Not compared: stored events: this role may not read events.');
    const reader = new URL(database.urls.apps['gift-cards']);
    await database.query(
      `grant usage on schema analytics to gift_cards; grant select on analytics.tracking_events to gift_cards`,
    );
    const again = await run({ url: reader.href, broker: false });
    expect(again.output).toContain(
      'Not compared: stored events: this role sees the events of one account at a time.',
    );
  });
});
