import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import {
  TRACKING_CONSUMER,
  TRACKING_DEAD_STREAM,
  TRACKING_STREAM,
  trackingSubject,
  type TrackingEvent,
} from '@perkway/domain';
import { connectTo, http, runNode, waitFor } from '@perkway/testing';
import { ensureTrackingStreams } from '../src/ingest/tracking-streams.js';
import { anAccountId, analyticsStack, click, event, launchAnalytics, type Stack } from './support.js';

let stack: Stack;
beforeAll(async () => {
  stack = await analyticsStack();
});
afterAll(() => stack.close());

const counted = (account: string, measure: string, expected: number) =>
  waitFor(
    async () => expect(await stack.as(account).count(measure)).toBe(expected),
    `${expected} of ${measure}`,
  );

async function withStream<T>(
  work: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
): Promise<T> {
  const connection = await connectTo(stack.nats.url);
  try {
    return await work(await jetstreamManager(connection));
  } finally {
    await connection.close();
  }
}
const pending = () =>
  withStream(async (manager) => {
    const info = await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER);
    return { waiting: info.num_pending, unacknowledged: info.num_ack_pending };
  });
const deadLetters = () =>
  withStream(async (manager) => {
    const { state } = await manager.streams.info(TRACKING_DEAD_STREAM);
    const letters: { number: number; reason: string; source: string; body: string }[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq += 1) {
      const message = await manager.streams.getMessage(TRACKING_DEAD_STREAM, { seq });
      if (message)
        letters.push({
          number: seq,
          reason: message.header.get('Perkway-Reason'),
          source: message.header.get('Perkway-Source'),
          body: Buffer.from(message.data).toString(),
        });
    }
    return letters;
  });

describe('the stream', () => {
  it('is updated by a newer build, and left alone by an older one', async () => {
    const settings = async () =>
      withStream(async (manager) => {
        const { description, max_bytes } = (await manager.streams.info(TRACKING_STREAM)).config;
        return { description, max_bytes };
      });
    const change = (description: string) =>
      withStream((manager) =>
        manager.streams.update(TRACKING_STREAM, { description, max_bytes: 77_777_777 }),
      );
    const ours = { description: 'Perkway, settings 2', max_bytes: 2 * 1024 ** 3 };
    await waitFor(async () => expect(await settings()).toEqual(ours), 'its settings');
    for (const [theirs, then] of [
      ['Perkway, settings 3', { description: 'Perkway, settings 3', max_bytes: 77_777_777 }],
      ['Perkway, settings 1', ours],
      ['', ours],
    ] as const) {
      await change(theirs);
      await withStream((manager) =>
        ensureTrackingStreams(manager, { replicas: 1, maxBytes: ours.max_bytes, maxAgeMs: 3_600_000 }, true),
      );
      expect(await settings()).toEqual(then);
    }
  });

  it('keeps the settings of the replica that started last when another one finds its consumer again', async () => {
    const maxBytes = () =>
      withStream(async (manager) => (await manager.streams.info(TRACKING_STREAM)).config.max_bytes);
    const before = await maxBytes();
    const newest = await launchAnalytics(stack.database, stack.nats, { TRACKING_MAX_BYTES: '99999999' });
    try {
      await waitFor(async () => expect(await maxBytes()).toBe(99_999_999), 'its settings');
    } finally {
      await newest.close();
    }
    await withStream((manager) => manager.consumers.delete(TRACKING_STREAM, TRACKING_CONSUMER));
    const account = anAccountId();
    await stack.publisher.events(click(account));
    await counted(account, 'perk_clicks.count', 1);
    expect(await maxBytes()).toBe(99_999_999);
    await withStream((manager) => manager.streams.update(TRACKING_STREAM, { max_bytes: before }));
  });
});

describe('ingest', () => {
  it('counts every event once, within 5 seconds, for its own account', async () => {
    let other = '';
    // Again with other accounts if a busy machine needed longer.
    await waitFor(async () => {
      const account = anAccountId();
      other = anAccountId();
      const started = Date.now();
      await stack.publisher.events(click(account), click(account), click(other));
      await stack.publisher.events(click(account));
      await counted(account, 'perk_clicks.count', 3);
      return Date.now() - started < 5_000;
    }, 'a count within 5 seconds');
    expect(await stack.as(other).count('perk_clicks.count')).toBe(1);
    expect(await stack.as(anAccountId()).count('perk_clicks.count')).toBe(0);
    await waitFor(
      async () => expect(await pending()).toEqual({ waiting: 0, unacknowledged: 0 }),
      'an empty backlog',
    );
  });

  it('counts an event once if it is delivered again', async () => {
    const account = anAccountId();
    const twice = click(account);
    await stack.publisher.events(twice, twice);
    await stack.publisher.events(twice);
    await counted(account, 'perk_clicks.count', 1);
    await stack.publisher.events(twice, click(account));
    await counted(account, 'perk_clicks.count', 2);
  });

  it('counts events with the same id and account at different times separately', async () => {
    const account = anAccountId();
    await stack.publisher.events(
      click(account, { id: 'same', at: 1_750_000_000_000 }),
      click(account, { id: 'same' }),
    );
    await counted(account, 'perk_clicks.count', 2);
  });

  it.each([
    ['that is copied', []],
    ['that is inserted, because it has a duplicate', [click(anAccountId())]],
  ])('stores every string and every time exactly, in a batch %s', async (_, before) => {
    const account = anAccountId();
    for (const each of before) {
      await stack.publisher.events(each);
      await counted(each.account, 'perk_clicks.count', 1);
    }
    const controls = String.fromCharCode(...Array.from({ length: 31 }, (_, index) => index + 1));
    const texts = ['NULL', 'null', '', '{a,b}', '"', '\\', '\\n', '\\\\"\\u0041', controls, '\x7f\u2028é🎁'];
    // Spread over years: not every whole number of milliseconds is exact as a floating-point number of seconds.
    const atOf = (index: number) => Date.UTC(2020, 0, 1) + index * 13_977_213_337 + index;
    const sent = texts.map((text, index) => ({
      at: atOf(index),
      reference: text === '' ? 'none' : text,
      cmeta: { text },
      utm: { utm_source: text },
      denomination: 10 ** (2 * index - 4),
    }));
    await stack.publisher.events(
      ...before,
      ...sent.map((each) =>
        event({
          type: 'reward_link',
          account,
          state: 'generated',
          pool: 'pool',
          currency: 'EUR',
          createdBy: 'us',
          ...each,
        } as never),
      ),
    );
    await counted(account, 'reward_links.count', sent.length);
    const stored = await stack.database.query(
      `select (extract(epoch from occurred_at) * 1000)::float8 as at, reference, cmeta, utm_source, denomination::float8
       from tracking_events where account_id = '${account}' order by occurred_at`,
    );
    expect(stored).toEqual(sent.map(({ utm, ...each }) => ({ ...each, utm_source: utm.utm_source })));
  });

  it('counts an external id once per account, whatever the time, in one batch or several', async () => {
    const [account, other] = [anAccountId(), anAccountId()];
    const conversion = (
      of: string,
      externalId: string | undefined,
      value: number,
      at = Date.now(),
    ): TrackingEvent =>
      event({ type: 'conversion', account: of, campaign: 'c', journey: 'j', value, externalId, at });
    const first = conversion(account, 'order-1', 10.25);
    await stack.publisher.events(
      first,
      conversion(account, 'order-1', 99, 1_750_000_000_000),
      conversion(other, 'order-1', 3),
    );
    await counted(account, 'conversions.count', 1);
    await stack.publisher.events(
      conversion(account, 'order-1', 99),
      first,
      // As boost repeats a conversion: under the same id.
      { ...first, at: first.at + 1, value: 99 } as TrackingEvent,
      conversion(account, undefined, 1),
    );
    await stack.publisher.events(conversion(account, undefined, 1), conversion(account, 'order-2', 0.5));
    await counted(account, 'conversions.count', 4);
    await counted(other, 'conversions.count', 1);
    // Either of the two in the first batch may have been counted.
    const value = await stack.as(account).count('conversions.value');
    expect([12.75, 101.5]).toContain(value);
  });

  it('separates external ids and views of public keys from those of servers', async () => {
    const account = anAccountId();
    const bot = { class: 'bot', reason: 'user-agent:googlebot' } as const;
    const human = { class: 'human', reason: 'none' } as const;
    const conversion = (traffic?: typeof bot | typeof human, value?: number) =>
      event({
        type: 'conversion',
        account,
        campaign: 'c',
        journey: 'j',
        externalId: 'order-1',
        traffic,
        value,
      });
    // One from a public key must not replace the server's, in one batch or in several.
    await stack.publisher.events(conversion(bot), conversion(human));
    await counted(account, 'conversions.count', 1);
    await stack.publisher.events(conversion(undefined, 40));
    await counted(account, 'conversions.count', 2);
    await stack.publisher.events(conversion(undefined, 99), conversion(human));
    const view = (traffic?: typeof bot | typeof human) =>
      event({ type: 'perk_view', account, collection: 'main', perks: ['coffee', 'gym'], traffic });
    await stack.publisher.events(view(bot), view(human), view());
    await counted(account, 'perk_views.count', 6);
    const sendRequest = stack.as(account);
    expect(await sendRequest.count('conversions.count')).toBe(2);
    expect(await sendRequest.count('conversions.value')).toBe(40);
    expect(await sendRequest.count('perk_views.count_people')).toBe(4);
    const { body } = await sendRequest.load({
      measures: ['perk_views.count', 'perk_views.count_people'],
      dimensions: ['perk_views.perk_id', 'perk_views.traffic_class', 'perk_views.traffic_reason'],
      filters: [{ member: 'perk_views.perk_id', operator: 'equals', values: ['gym'] }],
      order: { 'perk_views.traffic_class': 'asc' },
    });
    expect(
      body.data.map((row: Record<string, unknown>) => [
        row['perk_views.traffic_class'],
        row['perk_views.traffic_reason'],
        row['perk_views.count'],
        row['perk_views.count_people'],
      ]),
    ).toEqual([
      ['bot', 'user-agent:googlebot', '1', '0'],
      ['human', 'none', '1', '1'],
      [null, null, '1', '1'],
    ]);
  });

  it('shows the newest name, in whatever order names arrive', async () => {
    const account = anAccountId();
    const named = (title: string, at: number) =>
      event({ type: 'perk_named', account: '', perk: 'named-perk', title, partner: 'partner-1', at });
    const campaign = (name: string, at: number) =>
      event({ type: 'campaign_named', account, campaign: 'spring', name, at });
    const now = Date.now();
    await stack.publisher.events(named('Newer', now), named('Oldest', now - 2_000), campaign('Spring', now));
    await stack.publisher.events(
      named('Older', now - 1_000),
      campaign('Old spring', now - 1),
      click(account, { perk: 'named-perk' }),
      event({
        type: 'incentive_click',
        account,
        campaign: 'spring',
        journey: 'j',
        channel: 'journey',
        perk: 'named-perk',
      }),
    );
    await counted(account, 'incentive_clicks.count', 1);
    const clicks = await stack.as(account).load({
      dimensions: ['perk_clicks.perk_id', 'perk_clicks.perk_title', 'perk_clicks.partner_id'],
    });
    expect(clicks.body.data).toEqual([
      {
        'perk_clicks.perk_id': 'named-perk',
        'perk_clicks.perk_title': 'Newer',
        'perk_clicks.partner_id': 'partner-1',
      },
    ]);
    const incentives = await stack.as(account).load({ dimensions: ['incentive_clicks.campaign_name'] });
    expect(incentives.body.data).toEqual([{ 'incentive_clicks.campaign_name': 'Spring' }]);
    await stack.publisher.events(named('Newest', now + 1));
    await waitFor(async () => {
      const { body } = await stack.as(account).load({ dimensions: ['perk_clicks.perk_title'] });
      expect(body.data).toEqual([{ 'perk_clicks.perk_title': 'Newest' }]);
    }, 'the newest title');
  });

  it('stores events of any month from 2020 on', async () => {
    const account = anAccountId();
    const times = [
      Date.UTC(2020, 0, 1),
      Date.UTC(2020, 0, 31, 23, 59, 59, 999),
      Date.UTC(2023, 11, 31, 23, 59, 59, 999),
      Date.now() + 3_600_000,
    ];
    await stack.publisher.events(...times.map((at) => click(account, { at })));
    await counted(account, 'perk_clicks.count', times.length);
  });

  it('dead-letters events that can never be stored, with the reason, and stores the rest of the message', async () => {
    const account = anAccountId();
    const before = (await deadLetters()).length;
    const broken: [unknown, string][] = [
      [{ ...click(account), account: 'no id!' }, 'account is not a valid id'],
      [{ ...click(account), id: 'x'.repeat(65) }, 'id must have 1 to 64 characters'],
      [{ ...click(account), at: Date.UTC(2019, 11, 31) }, 'at is before 2020 or more than a day ahead'],
      [{ ...click(account), at: Date.now() + 25 * 3_600_000 }, 'at is before 2020 or more than a day ahead'],
      [{ ...click(account), at: 1.5 }, 'at is not a whole number of milliseconds'],
      [{ ...click(account), type: 'toString' }, 'type is unknown'],
      [{ ...click(account), perk: 5 }, 'perk is not a valid id'],
      [{ ...click(account), cmeta: { a: 'nul \0' } }, 'cmeta has a character that cannot be stored'],
      [{ ...click(account), traffic: { class: 'alien', reason: 'x' } }, 'traffic is not one of human'],
      [{ ...click(account), v: 0 }, 'v is not a valid version'],
      ['text', 'the event is not an object'],
    ];
    await stack.publisher.publish({
      events: [click(account), ...broken.map(([each]) => each), click(account)],
    });
    await stack.publisher.publish('no json {');
    await stack.publisher.publish({ something: 'else' });
    await counted(account, 'perk_clicks.count', 2);
    await waitFor(async () => {
      const letters = (await deadLetters()).slice(before);
      expect(letters).toHaveLength(broken.length + 2);
      broken.forEach(([, reason]) =>
        expect(letters).toContainEqual(expect.objectContaining({ reason: expect.stringContaining(reason) })),
      );
      expect(letters.map(({ reason }) => reason)).toEqual(
        expect.arrayContaining(['the message is not valid JSON', 'the message has no array of events']),
      );
    }, 'the dead letters');
    await waitFor(
      async () => expect(await pending()).toEqual({ waiting: 0, unacknowledged: 0 }),
      'an empty backlog',
    );
  });

  it('rejects events that the app of the subject does not publish, even in a replay', async () => {
    const account = anAccountId();
    const conversion = event({
      type: 'conversion',
      account,
      campaign: 'spring',
      journey: 'j',
      value: 5_000_000,
    });
    const forged = {
      links: conversion,
      boost: event({
        type: 'reward_link',
        account,
        state: 'revealed',
        pool: 'p',
        denomination: 10,
        currency: 'EUR',
        createdBy: 'x',
      }),
      'gift-cards': click(account),
      perks: { ...conversion, id: 'by-perks' },
      unknown: { ...conversion, id: 'by-nobody' },
    };
    const before = (await deadLetters()).length;
    for (const [app, each] of Object.entries(forged))
      await stack.publisher.publish({ events: [each] }, trackingSubject(app));
    await stack.publisher.publish({ events: [click(account), conversion] }, trackingSubject('links'));
    await counted(account, 'perk_clicks.count', 1);
    const letters = async () => (await deadLetters()).slice(before);
    const expected = Object.keys(forged).map((app) => ({
      reason: 'type is not published by this app',
      source: trackingSubject(app),
    }));
    // The broker stores an equal dead letter once.
    // They arrive in any order.
    const areExpected = async () => {
      const found = await letters();
      expect(found).toHaveLength(expected.length);
      expect(found).toEqual(expect.arrayContaining(expected.map((each) => expect.objectContaining(each))));
    };
    await waitFor(areExpected, 'the dead letters');
    expect(await stack.as(account).count('conversions.count')).toBe(0);
    expect(await stack.as(account).count('reward_links.count')).toBe(0);

    // After this, the broker no longer recognizes duplicates.
    await withStream(async (manager) => {
      await manager.streams.update(TRACKING_DEAD_STREAM, { duplicate_window: 100_000_000 });
    });
    const numbers = (await letters()).map(({ number }) => String(number));
    const { exitCode, output } = await runNode(
      ['--import', 'tsx', 'tools/perkway/src/dead-letters.ts', 'replay', ...numbers],
      { env: { NATS_URL: stack.nats.url } },
    );
    expect(exitCode).toBe(0);
    expect(output).not.toContain('"replayed":false');
    await waitFor(areExpected, 'the same dead letters');
    expect(await stack.as(account).count('conversions.count')).toBe(0);
  });

  it('is not blocked by events that cannot be looked up or serialized', async () => {
    const account = anAccountId();
    const before = (await deadLetters()).length;
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    await stack.publisher.publish({ events: [{ ...click(account), account: 'a\0b', journey: 'j' }] });
    await stack.publisher.publish(`{"events": [${deep}]}`);
    await stack.publisher.publish(
      `{"events": [${JSON.stringify({ ...click(account), perk: 'no id!' }).slice(0, -1)}, "more": ${deep}}]}`,
    );
    await stack.publisher.events(click(account));
    await counted(account, 'perk_clicks.count', 1);
    await waitFor(async () => {
      const letters = (await deadLetters()).slice(before);
      expect(letters.map(({ reason }) => reason).sort()).toEqual([
        'account is not a valid id',
        'perk is not a valid id',
        'the event is not an object',
      ]);
    }, 'the dead letters');
  });

  it('finds the events in a batch that the database rejects', async () => {
    const account = anAccountId();
    const before = (await deadLetters()).length;
    await stack.database.query(
      `alter table tracking_events add constraint poison check (campaign_id is distinct from 'poison')`,
    );
    const view = (campaign: string) =>
      event({ type: 'teaser_view', account, campaign, journey: 'j', channel: 'outreach' });
    const events = Array.from({ length: 300 }, (_, index) => view(index % 100 === 42 ? 'poison' : 'fine'));
    await stack.publisher.events(...events);
    await counted(account, 'teaser_views.count', 297);
    const letters = (await deadLetters()).slice(before);
    expect(letters).toHaveLength(3);
    for (const { reason, body } of letters) {
      expect(reason).toBe('rejected by the database: 23514');
      expect(JSON.parse(body)).toMatchObject({ events: [{ campaign: 'poison', account }] });
    }
    await stack.database.query('alter table tracking_events drop constraint poison');
  });

  it('postpones an event of an unknown version instead of dropping it, and stores the rest', async () => {
    const account = anAccountId();
    const before = (await deadLetters()).length;
    await stack.publisher.publish({ events: [{ ...click(account), v: 2 }, click(account)] });
    await counted(account, 'perk_clicks.count', 1);
    await waitFor(
      async () => expect(await pending()).toEqual({ waiting: 0, unacknowledged: 1 }),
      'an empty backlog',
    );
    expect((await deadLetters()).length).toBe(before);
    await withStream((manager) => manager.streams.purge(TRACKING_STREAM));
  });

  it('creates a partition again that was dropped', async () => {
    const account = anAccountId();
    const at = Date.UTC(2021, 4, 5);
    await stack.publisher.events(click(account, { at }));
    await counted(account, 'perk_clicks.count', 1);
    await stack.database.query('drop table tracking_events_2021_05');
    await stack.publisher.events(click(account, { at: at + 1 }), click(account, { at: at + 2 }));
    await counted(account, 'perk_clicks.count', 2);
  });

  it('attaches a month again that was detached, with its events', async () => {
    const account = anAccountId();
    const at = Date.UTC(2021, 7, 5);
    await stack.publisher.events(click(account, { at }));
    await counted(account, 'perk_clicks.count', 1);
    await stack.database.query('alter table tracking_events detach partition tracking_events_2021_08');
    await stack.publisher.events(click(account, { at: at + 1 }), click(account));
    await counted(account, 'perk_clicks.count', 3);
  });

  it('dead-letters each event whose month cannot have a partition, and stores the others', async () => {
    const account = anAccountId();
    const before = (await deadLetters()).length;
    await stack.database.query('create table tracking_events_2021_09 (something_else int)');
    await stack.publisher.events(
      click(account),
      click(account, { at: Date.UTC(2021, 8, 5), id: 'no-place' }),
      click(account),
    );
    await counted(account, 'perk_clicks.count', 2);
    const letters = (await deadLetters()).slice(before);
    expect(letters).toHaveLength(1);
    expect(letters[0]!.reason).toContain('cannot create the partition 2021-09');
    expect(JSON.parse(letters[0]!.body)).toMatchObject({ events: [{ id: 'no-place', account }] });
    await stack.database.query('drop table tracking_events_2021_09');
  });

  it('tries again to create the partition of a month after an error that may pass', async () => {
    const account = anAccountId();
    const before = (await deadLetters()).length;
    await stack.database.query(`
      create function fail() returns event_trigger language plpgsql as
        $$ begin raise exception 'tuple concurrently updated' using errcode = 'XX000'; end $$;
      create event trigger fail on ddl_command_start when tag in ('CREATE TABLE') execute function fail()`);
    await stack.publisher.events(click(account, { at: Date.UTC(2021, 2, 5) }), click(account));
    await waitFor(
      () => stack.app.logs.join('').includes('cannot store events, retrying'),
      'a failed attempt',
    );
    await stack.database.query('drop event trigger fail; drop function fail');
    await counted(account, 'perk_clicks.count', 2);
    expect(await deadLetters()).toHaveLength(before);
  });

  it('exposes metrics of stored events', async () => {
    const text = (await http(stack.app).get('/metrics')).text;
    for (const name of [
      'tracking_events_stored_total',
      'tracking_events_duplicate_total',
      'tracking_events_dead_total',
      'tracking_lag_messages',
      'tracking_lag_seconds',
    ])
      expect(text).toMatch(new RegExp(`^${name}\\{[^}]*\\} \\d`, 'm'));
  });

  it('counts every event once if one of two replicas stops', async () => {
    const account = anAccountId();
    const events = Array.from({ length: 2_000 }, () => click(account));
    const second = await launchAnalytics(stack.database, stack.nats);
    const publishing = Promise.all(events.map((each) => stack.publisher.events(each)));
    await waitFor(
      async () => (await stack.as(account).count('perk_clicks.count')) > 50,
      'more than 50 clicks',
    );
    await second.close();
    await publishing;
    await counted(account, 'perk_clicks.count', 2_000);
    await waitFor(
      async () => expect(await pending()).toEqual({ waiting: 0, unacknowledged: 0 }),
      'an empty backlog',
    );
  });

  it('uses an explicit-acknowledgement consumer with unlimited redelivery', async () => {
    const connection = await connectTo(stack.nats.url);
    const consumer = await jetstream(connection).consumers.get(TRACKING_STREAM, TRACKING_CONSUMER);
    expect((await consumer.info()).config).toMatchObject({ ack_policy: 'explicit', max_deliver: -1 });
    await connection.close();
  });
});
