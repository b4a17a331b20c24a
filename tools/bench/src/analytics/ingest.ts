import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { parseBrokerUrl, TRACKING_EVENT_VERSION, trackingSubject } from '@perkway/domain';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { median } from '../compare.js';
import type { Fleet } from '../fleet.js';
import { residentMiB } from '../process-usage.js';
import { judge, timed, write } from './analytics-client.js';

const ROUNDS = Number(process.env.BENCH_INGEST_ROUNDS ?? 3);
const BURST = Number(process.env.BENCH_BURST ?? 200_000);
const BATCH = 1_000;
/** Equals the number of batches that ingest stores concurrently. */
const WRITERS = 2;
const LIMIT_MS = 120_000;
/** Maximum growth of the process's memory during a burst. */
const GROWTH_MIB = 150;
const ACCOUNTS = ['bench-plain', 'bench-ingest'] as const;
/** Maximum number of unacknowledged messages. */
const UNACKED = 256;

export interface Sent {
  events: number;
  perMessage: number;
  /** Age of the oldest event. */
  spreadMs?: number;
  account?: string;
}
const SPREAD_MS = 5_000;

let made = 0;
function someEvents(account: string, count: number, spreadMs = SPREAD_MS) {
  const now = Date.now();
  return Array.from({ length: count }, () => {
    made += 1;
    return {
      v: TRACKING_EVENT_VERSION,
      id: randomUUID(),
      account,
      at: now - (made % spreadMs),
      type: 'teaser_view',
      campaign: `campaign-${made % 10}`,
      journey: `journey-${made % 5_000}`,
      channel: 'outreach',
      traffic: { class: 'human', reason: 'default' },
      utm: { utm_source: 'mail' },
      cmeta: { plan: 'gold', segment: `s${made % 7}` },
    };
  });
}
type SomeEvent = ReturnType<typeof someEvents>[number];

const chunks = <T>(items: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** Column, SQL type and value of each field of an event. */
const COLUMNS: [name: string, type: string, read: (event: SomeEvent) => unknown][] = [
  ['account_id', 'text', ({ account }) => account],
  ['occurred_at', 'timestamptz', ({ at }) => new Date(at).toISOString()],
  ['id', 'text', ({ id }) => id],
  ['type', 'text', ({ type }) => type],
  ['campaign_id', 'text', ({ campaign }) => campaign],
  ['journey_id', 'text', ({ journey }) => journey],
  ['has_derived_journey', 'boolean', () => false],
  ['channel', 'text', ({ channel }) => channel],
  ['traffic_class', 'text', ({ traffic }) => traffic.class],
  ['traffic_reason', 'text', ({ traffic }) => traffic.reason],
  ['utm_source', 'text', ({ utm }) => utm.utm_source],
  ['cmeta', 'jsonb', ({ cmeta }) => JSON.stringify(cmeta)],
  ...['perk_id', 'collection_id', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'].map(empty('text')),
  ...['perk_ids'].map(empty('text[]')),
  ...['value', 'denomination'].map(empty('numeric')),
  ...['currency', 'external_id', 'state', 'pool_id', 'created_by', 'reference'].map(empty('text')),
];
function empty(type: string) {
  return (name: string): [string, string, () => null] => [name, type, () => null];
}

const NAMES = COLUMNS.map(([name]) => name).join(', ');
/** The lower bound: a plain INSERT of whole events. */
const PLAIN = `
  insert into tracking_events (${NAMES})
  select ${COLUMNS.map(([name, type]) => `u.${name}::${type}`).join(', ')}
  from unnest(${COLUMNS.map((_, index) => `$${index + 1}::text[]`).join(', ')}) as u (${NAMES})
  on conflict do nothing`;

/** Inserts whole events in batches. @returns milliseconds */
export async function plain(clients: pg.Client[], events: number): Promise<number> {
  const batches = chunks(someEvents('bench-plain', events), BATCH);
  return timed(() =>
    Promise.all(
      clients.map(async (client) => {
        for (let batch = batches.shift(); batch; batch = batches.shift())
          await client.query(
            PLAIN,
            COLUMNS.map(([, , read]) => batch!.map(read)),
          );
      }),
    ),
  );
}

const storedBy = async (fleet: Fleet): Promise<number> => {
  const text = await (await fetch(`${fleet.urls['analytics-query']}/metrics`)).text();
  return Number(/^tracking_events_stored_total\{.*\} (\d+)/m.exec(text)?.[1] ?? 0);
};

export class Publisher {
  private constructor(private readonly connection: Awaited<ReturnType<typeof connect>>) {}

  static async connect(url: string): Promise<Publisher> {
    const { servers, user, password } = parseBrokerUrl(url);
    // Otherwise each message creates two errors with stack traces, which the apps' publisher avoids too.
    return new Publisher(await connect({ servers, user, pass: password, noAsyncTraces: true }));
  }

  async publish(messages: string[]): Promise<void> {
    const stream = jetstream(this.connection, { timeout: 20_000 });
    const subject = trackingSubject('boost');
    const waiting = [...messages];
    await Promise.all(
      Array.from({ length: UNACKED }, async () => {
        for (let message = waiting.pop(); message; message = waiting.pop())
          await stream.publish(subject, message);
      }),
    );
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

export const messagesOf = ({ events, perMessage, spreadMs, account = 'bench-ingest' }: Sent): string[] =>
  chunks(someEvents(account, events, spreadMs), perMessage).map((some) => JSON.stringify({ events: some }));

async function untilStored(fleet: Fleet, total: number): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while ((await storedBy(fleet)) < total) {
    if (Date.now() > deadline)
      throw new Error(
        `${total - (await storedBy(fleet))} events are still not stored after ${LIMIT_MS / 1000} s`,
      );
    // Each poll costs the process more than a millisecond.
    await sleep(50);
  }
}

/** Publishes as fast as the stream accepts it, while the ingest stores. */
export async function endToEnd(fleet: Fleet, publisher: Publisher, sent: Sent): Promise<number> {
  const messages = messagesOf(sent);
  const before = await storedBy(fleet);
  return timed(async () => {
    await publisher.publish(messages);
    await untilStored(fleet, before + sent.events);
  });
}

/** Publishes everything while the app is suspended, then measures how long it takes to store it. */
export async function burst(fleet: Fleet, publisher: Publisher, sent: Sent): Promise<number> {
  const messages = messagesOf(sent);
  const before = await storedBy(fleet);
  const pid = fleet.pid('analytics-query');
  process.kill(pid, 'SIGSTOP');
  try {
    await publisher.publish(messages);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  return timed(() => untilStored(fleet, before + sent.events));
}

/** Returns the peak memory of a process during `work`. */
async function peakOf<T>(pid: number, work: () => Promise<T>): Promise<{ peak: number; response: T }> {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, residentMiB(pid) ?? 0)), 20);
  try {
    return { response: await work(), peak: Math.max(peak, residentMiB(pid) ?? 0) };
  } finally {
    clearInterval(timer);
  }
}

/** Compares the ingest with plain INSERTs in alternating rounds. */
export async function ingest(fleet: Fleet): Promise<number> {
  const clients = Array.from(
    { length: WRITERS },
    () => new pg.Client({ connectionString: fleet.databaseUrl, options: '-c search_path=analytics' }),
  );
  for (const client of clients) await client.connect();
  const publisher = await Publisher.connect(fleet.natsUrl);
  const pid = fleet.pid('analytics-query');
  let missed = 0;
  write('\ningest, ratio to plain INSERTs of 1,000 events on two connections; medians of alternating rounds');
  try {
    const compare = async (sent: Sent, work: typeof endToEnd) => {
      const rounds: { ratio: number; rate: number; bare: number }[] = [];
      for (let round = -1; round < ROUNDS; round += 1) {
        const bare = await plain(clients, sent.events);
        const took = await work(fleet, publisher, sent);
        // The first round is a warm-up.
        if (round >= 0)
          rounds.push({
            ratio: bare / took,
            rate: (sent.events * 1000) / took,
            bare: (sent.events * 1000) / bare,
          });
      }
      const of = (name: keyof (typeof rounds)[number]) => median(rounds.map((each) => each[name]));
      return {
        ratio: of('ratio'),
        text: `${of('rate').toFixed(0)} events/s, bare ${of('bare').toFixed(0)}, ratio ${of('ratio').toFixed(2)}`,
      };
    };
    for (const [perMessage, events, target, work, how] of [
      [20, 60_000, 0.75, endToEnd, 'published and stored at the same time'],
      [1, 20_000, 0.45, burst, 'from the stream'],
      [1_000, 60_000, 0.75, burst, 'from the stream'],
    ] as const) {
      const { ratio, text } = await compare({ events, perMessage }, work);
      missed += judge(`${perMessage} events per message, ${how}: ${text}; target ${target}`, ratio >= target);
    }
    const start = residentMiB(pid) ?? 0;
    const { response, peak } = await peakOf(pid, () => compare({ events: BURST, perMessage: 1_000 }, burst));
    missed += judge(
      `a burst of ${BURST}: ${response.text}, ${(1 / response.ratio).toFixed(2)} of the time of plain INSERTs; target 1.20`,
      1 / response.ratio <= 1.2,
    );
    missed += judge(
      `memory: ${start.toFixed(0)} MiB before, ${peak.toFixed(0)} MiB at most; target ${GROWTH_MIB} more`,
      peak - start <= GROWTH_MIB,
    );
    const cuts = fleet.brokerLog.match(/slow consumer/gi)?.length ?? 0;
    missed += judge(`connections that the broker closed as slow consumers: ${cuts}; target 0`, cuts === 0);
    const { rows } = await clients[0]!.query<{ account: string; n: string }>(
      'select account_id as account, count(*) as n from tracking_events where account_id = any($1) group by 1',
      [ACCOUNTS],
    );
    const counts = new Set(rows.map(({ n }) => n));
    missed += judge(`stored by either method: ${[...counts].join(' and ')}`, counts.size === 1);
  } finally {
    for (const table of ['tracking_events', 'attribute_names'])
      await clients[0]!.query(`delete from ${table} where account_id = any($1)`, [ACCOUNTS]);
    for (const client of clients) await client.end();
    await publisher.close();
  }
  return missed;
}
