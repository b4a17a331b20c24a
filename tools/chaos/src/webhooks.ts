import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook } from '@perkway/client';
import type { FeedEvent } from '@perkway/domain';
import { ACCOUNT, type Load, type TestFleet } from '@perkway/test-fleet';
import pg from 'pg';
import { problemsOf } from './deliveries.js';

/**
 * Share of deliveries that the receiver refuses, so that they are attempted again. A refusal holds back its subject for five
 * seconds, and a third of the clicks have the same subject.
 */
const REFUSED = 0.003;
/** Longest wait for another delivery: a refused one is retried after 5 s, and after 30 s if it is refused again. */
const NEXT_DELIVERY_WITHIN_MS = 120_000;
const ALL_DELIVERED_WITHIN_MS = 600_000;
const PAGE = 1_000;

interface Subscription {
  isOrdered: boolean;
  secret: string;
  accepted: FeedEvent[];
}

/** A client's receiver with one webhook for any order and one that is ordered. */
export class Webhooks {
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly wrong: string[] = [];
  private server: Server;

  private constructor(
    private readonly fleet: TestFleet,
    private readonly load: Load,
    private readonly random: () => number,
  ) {}

  /** Creates the webhooks of the workload's account. */
  static async listen(fleet: TestFleet, load: Load, random: () => number): Promise<Webhooks> {
    const webhooks = new Webhooks(fleet, load, random);
    webhooks.server = createServer((request, response) => void webhooks.receive(request, response));
    webhooks.server.listen(0, '127.0.0.1');
    await once(webhooks.server, 'listening');
    await webhooks.subscribe('any-order', false);
    await webhooks.subscribe('ordered', true);
    return webhooks;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /**
   * Waits until everything is delivered, or nothing more is. Then the feed must have exactly the events of analytics,
   * except perk views, without gaps, and each webhook must have received each of them.
   *
   * @returns what is wrong
   */
  async check(): Promise<string[]> {
    const end = Date.now() + ALL_DELIVERED_WITHIN_MS;
    let problems = await this.findProblems();
    let [delivered, lastAt] = [this.delivered, Date.now()];
    while (problems.length > 0 && Date.now() < Math.min(lastAt + NEXT_DELIVERY_WITHIN_MS, end)) {
      await sleep(2_000);
      problems = await this.findProblems();
      if (this.delivered > delivered) [delivered, lastAt] = [this.delivered, Date.now()];
    }
    return [...this.wrong, ...problems];
  }

  private get delivered(): number {
    return [...this.subscriptions.values()].reduce((sum, { accepted }) => sum + accepted.length, 0);
  }

  private async subscribe(id: string, isOrdered: boolean) {
    const { port } = this.server.address() as AddressInfo;
    const body = { url: `http://127.0.0.1:${port}/${id}`, ordered: isOrdered };
    const { secret } = await this.call<{ secret: string }>('PUT', `/webhooks/${id}`, body);
    this.subscriptions.set(id, { isOrdered, secret, accepted: [] });
  }

  private async call<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(this.fleet.urls.events + path, {
      method,
      headers: { ...this.load.client, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as Body;
  }

  private async receive(request: IncomingMessage, response: ServerResponse) {
    const subscription = this.subscriptions.get(request.url!.slice(1));
    try {
      const body = await buffer(request);
      const event = verifyWebhook(body, request.headers, subscription!.secret);
      if (request.headers['webhook-id'] !== event.id)
        throw new Error('webhook-id is not the id of the event');
      const isRefused = this.random() < REFUSED;
      if (!isRefused) subscription!.accepted.push(event as FeedEvent);
      response.writeHead(isRefused ? 500 : 204).end();
    } catch (error) {
      // A sender that was killed.
      if (!request.complete) return response.destroy();
      this.wrong.push(`a delivery to ${request.url}: ${(error as Error).message}`);
      response.writeHead(400).end();
    }
  }

  private async findProblems(): Promise<string[]> {
    const feed = await this.readFeed();
    const { since, differences } = await this.readDatabase();
    const problems = differences.map(({ id, place }) => `event ${id} is in ${place} only`);
    if (new Set(feed.map(({ id }) => id)).size !== feed.length) problems.push('the feed repeats an event');
    for (const [webhook, { isOrdered, accepted }] of this.subscriptions) {
      const expected = feed.filter(({ occurred_at }) => Date.parse(occurred_at) >= since.get(webhook)!);
      problems.push(...problemsOf({ webhook, isOrdered, expected, accepted }));
    }
    return problems;
  }

  private async readFeed(): Promise<FeedEvent[]> {
    const events: FeedEvent[] = [];
    for (let cursor = '', hasMore = true; hasMore;) {
      const page = await this.call<{ data: FeedEvent[]; next_cursor: string; has_more: boolean }>(
        'GET',
        `/events?limit=${PAGE}${cursor && `&cursor=${cursor}`}`,
      );
      events.push(...page.data);
      [cursor, hasMore] = [page.next_cursor, page.has_more];
    }
    return events;
  }

  /** Returns when each webhook was enabled, and the events that are only in the feed or only in analytics. */
  private async readDatabase() {
    const client = new pg.Client({
      connectionString: this.fleet.database.admin,
      connectionTimeoutMillis: 10_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows: webhooks } = await client.query<{ id: string; since: Date }>(
        'select id, enabled_at as since from events.webhooks where account_id = $1',
        [ACCOUNT],
      );
      const { rows: differences } = await client.query<{ id: string; place: string }>(
        `select coalesce(f.id, a.id) as id, case when a.id is null then 'the feed' else 'analytics' end as place
         from (select id from events.events where account_id = $1) f
         full join (
           select id from analytics.tracking_events where account_id = $1 and type <> 'perk_view') a on a.id = f.id
         where a.id is null or f.id is null limit 20`,
        [ACCOUNT],
      );
      return { since: new Map(webhooks.map(({ id, since }) => [id, since.getTime()])), differences };
    } finally {
      await client.end();
    }
  }
}
