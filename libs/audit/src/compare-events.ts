import type { NatsConnection } from '@nats-io/transport-node';
import { isStored, type RewardLinkEvent, type TrackingEvent } from '@perkway/domain';
import type pg from 'pg';
import type { Finding } from './audit-gift-cards.js';
import { inSnapshots } from './snapshot.js';
import {
  conversionKey,
  countedConversions,
  countedLinks,
  keptFrom,
  keyOf,
  linkRows,
  readOutboxes,
  STATES,
  storedKeys,
  reasonForNoEvents,
  type LinkHistory,
  type LinkState,
} from './database-events.js';
import { deadEvents, trackedEvents } from './stream-events.js';

export interface EventSources {
  /** Reads the schema gift_cards. */
  giftCards: pg.ClientBase;
  /** Reads the schema analytics, in the same or another database, over its own connection. */
  analytics: pg.ClientBase;
  /** Connected as the operator. Without it the stream is not compared. */
  broker?: NatsConnection;
  /** Events younger than this many seconds may still be in transit. */
  graceS: number;
}

export interface EventsReport {
  /** Number of links with a row or an event. */
  links: number;
  /** Number of stream events compared; undefined without a broker. */
  streamed?: number;
  /** Comparisons that were not possible, with the reasons. */
  notCompared: string[];
  findings: Finding[];
}

const EVENTS_PER_BATCH = 2_000;
const EXAMPLES = 5;

/**
 * Compares the rows of links with their events. An event is published only after its row is committed, so an event
 * without its row means that a failover or restore lost an acknowledged row. A row without its event was not counted.
 * With a broker, each event in the stream must be stored too.
 *
 * Reads the outbox first, then the stream, the stored events and the rows, so that changes meanwhile are not reported.
 */
export async function compareEvents(sources: EventSources): Promise<EventsReport> {
  const { giftCards, analytics, broker, graceS } = sources;
  const settledBefore = Date.now() - graceS * 1000;
  const notCompared: string[] = [];
  const outboxes = await readOutboxes(giftCards, graceS);
  const whyNot = await reasonForNoEvents(analytics);
  if (whyNot !== undefined) notCompared.push(`stored events: ${whyNot}`);
  const kept = whyNot === undefined ? await keptFrom(analytics) : Infinity;
  const found = new Findings();
  for (const [schema, late] of outboxes.late)
    found.count(`events in an outbox for longer than ${graceS} s`, late, schema);

  const streamedLinks = new Map<string, { account: string; states: Set<LinkState> }>();
  let streamed: number | undefined;
  let young = 0;
  if (broker) {
    const check = new StoredCheck(analytics, kept, found);
    streamed = 0;
    for await (const { event, takenAt } of trackedEvents(broker)) {
      if (isOfLink(event)) {
        const link = linkOf(event);
        const known = streamedLinks.get(link) ?? { account: event.account, states: new Set() };
        streamedLinks.set(link, { ...known, states: known.states.add(event.state as LinkState) });
      }
      if (whyNot !== undefined) continue;
      if (takenAt >= settledBefore) young += 1;
      else if (await check.add(event)) streamed += 1;
    }
    await check.finish(broker);
    if (young > 0) notCompared.push(`${young} events of the stream younger than ${graceS} s`);
  } else notCompared.push('the stream: no NATS_URL');

  const links = await inSnapshots([analytics, giftCards], async () => {
    const histories = merged([
      whyNot === undefined ? countedLinks(analytics) : none(),
      sorted([...streamedLinks].map(([link, { account, states }]) => ({ link, account, states }))),
    ]);
    let count = 0;
    // The first query of a transaction takes its snapshot, so the events must be read before the rows.
    for await (const [history, row] of paired(histories, linkRows(giftCards))) {
      count += 1;
      if (!row) lost(history!, found);
      else {
        for (const state of STATES)
          if (state !== 'generated' && history?.states.has(state) && row.times[state] === undefined)
            found.name(`a link with a ${state} event that is not ${state}`, nameOf(row));
        if (whyNot !== undefined) continue;
        for (const state of STATES) {
          const at = row.times[state];
          if (at === undefined || at > settledBefore || at < kept + graceS * 1000) continue;
          if (!history?.states.has(state) && !outboxes.links.has(`${row.link}:${state}`))
            found.name(`a link that was ${state} but not counted as such`, nameOf(row));
        }
      }
    }
    return count;
  });
  return { links, streamed, notCompared, findings: found.all() };
}

const nameOf = ({ link, account }: { link: string; account: string }): string => `${link} of ${account}`;
const isOfLink = (event: TrackingEvent): event is RewardLinkEvent =>
  event.type === 'reward_link' && (STATES as readonly string[]).includes(event.state);
const linkOf = ({ id }: RewardLinkEvent): string => id.split(':')[0]!;

function lost(history: LinkHistory, found: Findings): void {
  found.name('an acknowledged link that is missing', nameOf(history));
  if (history.states.has('revealed'))
    found.name('a revealed link that is missing with its reveal', nameOf(history));
}

/** Counts findings by check. Links are all named, because somebody must handle each of them. */
class Findings {
  private readonly byCheck = new Map<string, Finding>();

  name(check: string, example: string): void {
    const finding = this.of(check);
    finding.count += 1;
    finding.examples.push(example);
  }

  count(check: string, count: number, example: string): void {
    const finding = this.of(check);
    finding.count += count;
    if (finding.examples.length < EXAMPLES) finding.examples.push(example);
  }

  all(): Finding[] {
    return [...this.byCheck.values()];
  }

  private of(check: string): Finding {
    const known = this.byCheck.get(check) ?? { check, count: 0, examples: [] };
    this.byCheck.set(check, known);
    return known;
  }
}

/** Checks in batches that events of the stream are stored. */
class StoredCheck {
  private batch: TrackingEvent[] = [];
  private readonly missing = new Map<string, TrackingEvent>();

  constructor(
    private readonly analytics: pg.ClientBase,
    private readonly keptFrom: number,
    private readonly found: Findings,
  ) {}

  /** @returns whether the event must be stored */
  async add(event: TrackingEvent): Promise<boolean> {
    // Expired months are not stored.
    if (!isStored(event) || event.at < this.keptFrom) return false;
    this.batch.push(event);
    if (this.batch.length === EVENTS_PER_BATCH) await this.look();
    return true;
  }

  /** Reports missing events, except dead letters and conversions whose external id was counted already. */
  async finish(broker: NatsConnection): Promise<void> {
    await this.look();
    if (this.missing.size === 0) return;
    for await (const { event } of deadEvents(broker)) this.missing.delete(keyOf(event));
    const doubles = [...this.missing.values()].flatMap((event) =>
      event.type === 'conversion' && event.externalId !== undefined
        ? [
            {
              key: keyOf(event),
              account: event.account,
              externalId: event.externalId,
              isPublic: event.traffic !== undefined,
            },
          ]
        : [],
    );
    const counted = await countedConversions(this.analytics, doubles);
    // These events are not stored, so a stored one with the same external id is another event, perhaps of the same id.
    for (const { key, ...conversion } of doubles)
      if (counted.has(conversionKey(conversion))) this.missing.delete(key);
    for (const { type, account, id } of this.missing.values())
      this.found.count(`a ${type} in the stream that is not counted`, 1, `${id} of ${account}`);
  }

  private async look(): Promise<void> {
    const batch = this.batch.splice(0);
    const stored = await storedKeys(this.analytics, batch);
    for (const event of batch) if (!stored.has(keyOf(event))) this.missing.set(keyOf(event), event);
  }
}

async function* none(): AsyncGenerator<never> {}
async function* sorted<T extends { link: string }>(items: T[]): AsyncGenerator<T> {
  yield* items.sort((a, b) => (a.link < b.link ? -1 : 1));
}

/** Joins two iterations in order of link id, and pairs entries of the same link. */
async function* paired<A extends { link: string }, B extends { link: string }>(
  first: AsyncGenerator<A>,
  second: AsyncGenerator<B>,
): AsyncGenerator<[A | undefined, B | undefined]> {
  let [a, b] = [await first.next(), await second.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compare(a.value.link, b.value.link);
    yield [order <= 0 ? (a.value as A) : undefined, order >= 0 ? (b.value as B) : undefined];
    if (order <= 0) a = await first.next();
    if (order >= 0) b = await second.next();
  }
}
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function* merged([first, second]: [
  AsyncGenerator<LinkHistory>,
  AsyncGenerator<LinkHistory>,
]): AsyncGenerator<LinkHistory> {
  for await (const [a, b] of paired(first, second))
    yield a && b ? { ...a, states: new Set([...a.states, ...b.states]) } : (a ?? b)!;
}
