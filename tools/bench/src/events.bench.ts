import type { FeedEvent } from '@perkway/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { judge, timed, write } from './analytics/analytics-client.js';
import { messagesOf, plain, Publisher } from './analytics/ingest.js';
import { LoadGenerator } from './children.js';
import { median } from './compare.js';
import type { Fleet } from './fleet.js';
import { cpuSeconds } from './process-usage.js';
import type { Scenario } from './scenario.js';
import type { Posts } from './webhook-client.js';
import type { Received } from './webhook-receiver.js';

const ALL_PARTS = ['feed', 'deliveries', 'latency', 'fairness'] as const;
const PARTS = ALL_PARTS.filter((part) => (process.env.BENCH_PARTS ?? part).split(',').includes(part));
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const FEED_EVENTS = 40_000;
const FEED_TARGET = 0.5;
/** The account to which `messagesOf` gives its events. */
const ACCOUNT = 'bench-ingest';
/** A separate account, because a replay also reads what its account stored in the five minutes before `from`. */
const DELIVERIES_ACCOUNT = 'bench-deliveries';
const WEBHOOKS = 4;
/** Concurrent attempts of one replica for one webhook at the start; a fast webhook gets up to 128. */
const PER_WEBHOOK = 16;
const DELIVERED_EVENTS = 4_000;
const DELIVERY_TARGET = 0.4;
const LATENCY_EVENTS_PER_SECOND = 500;
const LATENCY_SECONDS = 20;
const LATENCY_TARGET_MS = 5_000;
const ACCOUNTS = 10;
const WEBHOOKS_PER_ACCOUNT = 10;
/** Paths of the receiver that misbehave. Every second account has one webhook for each of them. */
const BAD_PATHS = ['/hang', '/fail', '/slow'];
const FAIRNESS_SECONDS = 30;
/** Events per second and account. */
const FAIRNESS_EVENTS_PER_SECOND = 2;
const FAIRNESS_TARGET = 2;
const LIMIT_MS = 120_000;
const POLL_MS = 20;

async function until(isDone: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error(`${what} took longer than ${LIMIT_MS / 1_000} s`);
    await sleep(POLL_MS);
  }
}

interface Sample {
  /** Per second. */
  rate: number;
  /** Per event or delivery: of each process, then of Postgres. */
  cpuMicros: number[];
}

interface Round {
  bare: Sample;
  own: Sample;
}

/** Prints the medians of all rounds. @returns the number of missed targets */
function report(
  what: string,
  unit: string,
  processes: [bare: string, own: string],
  rounds: Round[],
  target: number,
): number {
  const of = (read: (round: Round) => number) => median(rounds.map(read));
  const total = ({ cpuMicros }: Sample) => cpuMicros.reduce((sum, micros) => sum + micros, 0);
  const cpu = (read: (round: Round) => Sample) =>
    rounds[0]!.own.cpuMicros
      .map((_, index) => of((round) => read(round).cpuMicros[index]!).toFixed(0))
      .join(', ');
  const ratio = of(({ bare, own }) => own.rate / bare.rate);
  const byCpu = of(({ bare, own }) => total(bare) / total(own));
  write(
    `CPU us of ${processes[1]}, Postgres: ${cpu(({ own }) => own)}; bare, ${processes[0]}, Postgres: ${cpu(({ bare }) => bare)}`,
  );
  return judge(
    `${what}: ${of(({ own }) => own.rate).toFixed(0)} ${unit}/s, bare ${of(({ bare }) => bare.rate).toFixed(0)}, ` +
      `ratio ${ratio.toFixed(2)}, by CPU of all these processes ${byCpu.toFixed(2)}; target ${target}`,
    ratio >= target,
  );
}

class Bench {
  private readonly receiver = new LoadGenerator<object, Received>('webhook-receiver.ts');
  private readonly client = new LoadGenerator<Posts, { ms: number }>('webhook-client.ts');
  private readonly database: pg.Client[];
  private publisher?: Publisher;
  private key: string;
  private receiverUrl: string;

  constructor(private readonly fleet: Fleet) {
    this.database = [1, 2].map(
      () => new pg.Client({ connectionString: fleet.databaseUrl, options: '-c search_path=analytics' }),
    );
  }

  async run(): Promise<number> {
    for (const client of this.database) await client.connect();
    try {
      await this.prepare();
      let missed = 0;
      for (const part of PARTS) missed += await this[part]();
      return missed;
    } finally {
      this.receiver.stop();
      this.client.stop();
      await this.publisher?.close();
      for (const client of this.database) await client.end();
    }
  }

  private async prepare(): Promise<void> {
    this.publisher = await Publisher.connect(this.fleet.natsUrl);
    this.key = await this.fleet.account(ACCOUNT);
    // Needed only to create the stream and the partitions. As a reader of the stream, it would take CPU from the feed.
    await this.fleet.halt('analytics-query');
    await sleep(500);
    const { port } = await this.receiver.run({});
    this.receiverUrl = `http://127.0.0.1:${port}`;
  }

  /** Publishes events while the app is suspended, then measures how long it takes to store them all in the feed. */
  private async feed(): Promise<number> {
    let missed = 0;
    write('\nfeed, ratio to plain INSERTs of 1,000 events on two connections; medians of alternating rounds');
    for (const perMessage of [20, 1_000]) {
      const rounds: Round[] = [];
      for (let round = -1; round < ROUNDS; round += 1) {
        const bare = await this.measured([process.pid], FEED_EVENTS, () => plain(this.database, FEED_EVENTS));
        const before = await this.lastPosition();
        const pid = this.fleet.pid('events');
        process.kill(pid, 'SIGSTOP');
        try {
          await this.publisher!.publish(messagesOf({ events: FEED_EVENTS, perMessage }));
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        const feed = await this.measured([pid], FEED_EVENTS, () =>
          timed(() =>
            until(async () => (await this.lastPosition()) === before + FEED_EVENTS, 'storing the feed'),
          ),
        );
        // The first round is a warm-up.
        if (round >= 0) rounds.push({ bare, own: feed });
      }
      missed += report(`${perMessage} events per message`, 'events', ['client', 'app'], rounds, FEED_TARGET);
    }
    return missed;
  }

  /** Compares replays of stored events to several webhooks with a bare client that posts the same bodies. */
  private async deliveries(): Promise<number> {
    write(
      '\ndeliveries, ratio to a bare client that signs and posts the same bytes; medians of alternating rounds',
    );
    const key = await this.fleet.account(DELIVERIES_ACCOUNT);
    const ids = Array.from({ length: WEBHOOKS }, (_, index) => `w${index}`);
    for (const id of ids) await this.call('PUT', `/webhooks/${id}`, { url: this.receiverUrl }, key);
    const from = new Date().toISOString();
    await this.publisher!.publish(
      messagesOf({ account: DELIVERIES_ACCOUNT, events: DELIVERED_EVENTS, perMessage: 100, spreadMs: 1 }),
    );
    const bodies = await this.bodies(from, key);
    await this.received(DELIVERED_EVENTS * WEBHOOKS);
    const rounds: Round[] = [];
    const all = Array.from({ length: WEBHOOKS }, () => bodies).flat();
    for (let round = -1; round < ROUNDS; round += 1) {
      const bare = await this.measured([this.client.pid, this.receiver.pid], all.length, async () => {
        const { ms } = await this.client.run({
          url: this.receiverUrl,
          bodies: all,
          connections: WEBHOOKS * PER_WEBHOOK,
        });
        await this.received(all.length);
        return ms;
      });
      const pids = [this.fleet.pid('events'), this.receiver.pid];
      const own = await this.measured(pids, all.length, () =>
        timed(async () => {
          for (const id of ids) await this.call('POST', `/webhooks/${id}/replay`, { from }, key);
          await this.received(all.length);
        }),
      );
      if (round >= 0) rounds.push({ bare, own });
    }
    for (const id of ids) await this.call('DELETE', `/webhooks/${id}`, undefined, key);
    return report(
      `${WEBHOOKS} webhooks`,
      'deliveries',
      ['client and receiver', 'app and receiver'],
      rounds,
      DELIVERY_TARGET,
    );
  }

  /** Measures the CPU time of the processes and of Postgres. @param work returns milliseconds */
  private async measured(pids: number[], count: number, work: () => Promise<number>): Promise<Sample> {
    const cpu = () => [...pids.map((pid) => cpuSeconds(pid) ?? NaN), this.fleet.databaseCpuSeconds() ?? NaN];
    const before = cpu();
    const ms = await work();
    const cpuMicros = cpu().map((seconds, index) => ((seconds - before[index]!) * 1e6) / count);
    return { rate: (count * 1_000) / ms, cpuMicros };
  }

  /** Publishes at a fixed rate, one event per message. */
  private async latency(): Promise<number> {
    await this.call('PUT', '/webhooks/latency', { url: this.receiverUrl });
    const { p50, p99 } = await this.latencies(
      LATENCY_SECONDS,
      LATENCY_EVENTS_PER_SECOND * LATENCY_SECONDS,
      () => messagesOf({ events: LATENCY_EVENTS_PER_SECOND, perMessage: 1, spreadMs: 1 }),
    );
    await this.call('DELETE', '/webhooks/latency');
    write(`\nfrom the interaction to the receiver, at ${LATENCY_EVENTS_PER_SECOND} interactions a second`);
    return judge(`p50 ${p50} ms, p99 ${p99} ms; target ${LATENCY_TARGET_MS} ms`, p99 <= LATENCY_TARGET_MS);
  }

  /** Compares the latency of 85 webhooks, beside 15 that hang, fail or are slow, with that of 100 that all work. */
  private async fairness(): Promise<number> {
    const accounts = Array.from({ length: ACCOUNTS }, (_, index) => `bench-fairness-${index}`);
    const keys = await Promise.all(accounts.map((account) => this.fleet.account(account)));
    const put = async (isBad: boolean) => {
      let counted = 0;
      for (const [account, key] of keys.entries())
        for (let index = 0; index < WEBHOOKS_PER_ACCOUNT; index += 1) {
          const path = (isBad && account % 2 === 0 && BAD_PATHS[index]) || '';
          counted += path ? 0 : 1;
          await this.call('PUT', `/webhooks/w${index}`, { url: this.receiverUrl + path }, key);
        }
      return counted;
    };
    const p99 = async (isBad: boolean) => {
      const webhooks = await put(isBad);
      const all = await this.latencies(
        FAIRNESS_SECONDS,
        FAIRNESS_SECONDS * FAIRNESS_EVENTS_PER_SECOND * webhooks,
        () =>
          accounts.flatMap((account) =>
            messagesOf({ account, events: FAIRNESS_EVENTS_PER_SECOND, perMessage: 1, spreadMs: 1 }),
          ),
      );
      return all.p99;
    };
    const [alone, beside] = [await p99(false), await p99(true)];
    write('\nwebhooks beside 15 of 100 that hang, fail or are slow');
    return judge(
      `p99 ${beside} ms, without them ${alone} ms, ratio ${(beside / alone).toFixed(2)}; target ${FAIRNESS_TARGET}`,
      beside <= FAIRNESS_TARGET * alone,
    );
  }

  /** Publishes messages each second. Returns percentiles of the time from the interaction to the receiver. */
  private async latencies(seconds: number, deliveries: number, messages: () => string[]) {
    const all: number[] = [];
    const collect = async () => all.push(...(await this.receiver.run({})).latencies);
    for (let second = 0; second < seconds; second += 1) {
      const next = sleep(1_000);
      await this.publisher!.publish(messages());
      await next;
      await collect();
    }
    await until(async () => (await collect()) >= deliveries, 'delivering');
    const sorted = all.sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)]!;
    return { p50: at(0.5), p99: at(0.99) };
  }

  private async received(count: number): Promise<void> {
    let total = 0;
    await until(async () => (total += (await this.receiver.run({})).count) >= count, 'delivering');
  }

  private async lastPosition(): Promise<number> {
    const { rows } = await this.database[0]!.query<{ last: number }>(
      'select last_position::float8 as last from events.feeds where account_id = $1',
      [ACCOUNT],
    );
    return rows[0]?.last ?? 0;
  }

  /** Returns the events stored since `from` as the bodies of deliveries. */
  private async bodies(from: string, key: string): Promise<string[]> {
    const events: FeedEvent[] = [];
    let query = `from=${from}`;
    await until(async () => {
      const page = await this.call<{ data: FeedEvent[]; next_cursor: string }>(
        'GET',
        `/events?limit=1000&${query}`,
        undefined,
        key,
      );
      events.push(...page.data);
      query = `cursor=${page.next_cursor}`;
      return events.length >= DELIVERED_EVENTS;
    }, 'storing the feed');
    return events.map((event) => JSON.stringify(event));
  }

  private async call<Body>(method: string, path: string, body?: object, key = this.key): Promise<Body> {
    const response = await fetch(this.fleet.urls.events + path, {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
    return (text && JSON.parse(text)) as Body;
  }
}

export const scenario: Scenario = {
  title: 'The feed and webhooks, against plain INSERTs and a bare client',
  apps: ['token-issuer', 'analytics-query', 'events'],
  run: (fleet) => new Bench(fleet).run(),
};
