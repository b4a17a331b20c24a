import type { NatsConnection } from '@nats-io/transport-node';
import type { RewardLinkEvent, TrackingEvent } from '@perkway/domain';
import type pg from 'pg';
import type { Finding } from './audit.js';
import { inSnapshots } from './snapshot.js';
import {
  countedLinks,
  keptFrom,
  keyOf,
  linkRows,
  ownersOf,
  readOutboxes,
  STATES,
  storedOf,
  whyNoEvents,
  type LinkHistory,
  type LinkState,
} from './database-events.js';
import { deadEvents, trackedEvents } from './stream-events.js';

export interface EventSources {
  /** Reads the schema gift_cards. */
  giftCards: pg.ClientBase;
  /** Reads the schema analytics, which may be in another database. Another connection in any case. */
  analytics: pg.ClientBase;
  /** Of the operator; without it the stream is not looked into. */
  broker?: NatsConnection;
  /** What is younger may be under way; seconds. */
  graceS: number;
}

export interface EventsReport {
  /** Links with a row or an event. */
  links: number;
  /** Events of the stream that were looked for, if there was one. */
  streamed?: number;
  /** What was not compared, and why. */
  notCompared: string[];
  findings: Finding[];
}

const EVENTS_AT_ONCE = 2_000;
const EXAMPLES = 5;

/**
 * Compares what happened to links by their rows with what was told of it. An event is told only after its row was
 * committed, so an event without its row was answered and is gone: forgotten by a failover or a restore. A row without its
 * event is not counted. With a broker, each event that the stream keeps must be stored as well.
 *
 * What is told comes before what is: first the outbox, then the stream, the store, and the rows, so that what goes on
 * meanwhile is no finding.
 */
export async function compareEvents(sources: EventSources): Promise<EventsReport> {
  const { giftCards, analytics, broker, graceS } = sources;
  const settledBefore = Date.now() - graceS * 1000;
  const notCompared: string[] = [];
  const outboxes = await readOutboxes(giftCards, graceS);
  const whyNot = await whyNoEvents(analytics);
  if (whyNot !== undefined) notCompared.push(`stored events: ${whyNot}`);
  const kept = whyNot === undefined ? await keptFrom(analytics) : Infinity;
  const found = new Findings();
  for (const [schema, late] of outboxes.late)
    found.count(`events that wait in an outbox for longer than ${graceS} s`, late, schema);

  const told = new Map<string, { account: string; states: Set<LinkState> }>();
  let streamed: number | undefined;
  let young = 0;
  if (broker) {
    const check = new StoredCheck(analytics, kept, found);
    streamed = 0;
    for await (const { event, takenAt } of trackedEvents(broker)) {
      if (isOfLink(event)) {
        const link = linkOf(event);
        const known = told.get(link) ?? { account: event.account, states: new Set() };
        told.set(link, { ...known, states: known.states.add(event.state as LinkState) });
      }
      if (whyNot !== undefined) continue;
      if (takenAt >= settledBefore) young += 1;
      else if (await check.add(event)) streamed += 1;
    }
    await check.finish(broker);
    if (young > 0) notCompared.push(`${young} events of the stream that are younger than ${graceS} s`);
  } else notCompared.push('the stream: no NATS_URL');

  const links = await inSnapshots([analytics, giftCards], async () => {
    const histories = merged([
      whyNot === undefined ? countedLinks(analytics) : none(),
      sorted([...told].map(([link, { account, states }]) => ({ link, account, states }))),
    ]);
    let count = 0;
    for await (const [row, history] of paired(linkRows(giftCards), histories)) {
      count += 1;
      if (!row) lost(history!, found);
      else {
        for (const state of STATES)
          if (state !== 'generated' && history?.states.has(state) && row.times[state] === undefined)
            found.name(`a link that was told to be ${state} and is not`, nameOf(row));
        if (whyNot !== undefined) continue;
        for (const state of STATES) {
          const at = row.times[state];
          if (at === undefined || at > settledBefore || at < kept + graceS * 1000) continue;
          if (!history?.states.has(state) && !outboxes.links.has(`${row.link}:${state}`))
            found.name(`a link that was ${state} and is not counted as such`, nameOf(row));
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
  found.name('a link that was answered and is gone', nameOf(history));
  if (history.states.has('revealed'))
    found.name('a revealed link that is gone with its reveal', nameOf(history));
}

/** Counts by what was found; of links all are named, as somebody has to see to each. */
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

/** Looks for the events of the stream in the store, many at a time. */
class StoredCheck {
  private batch: TrackingEvent[] = [];
  private readonly missing = new Map<string, TrackingEvent>();

  constructor(
    private readonly analytics: pg.ClientBase,
    private readonly keptFrom: number,
    private readonly found: Findings,
  ) {}

  /** @returns whether it must be stored */
  async add(event: TrackingEvent): Promise<boolean> {
    // Names are stored beside the events, the newest only; months that are no longer kept not at all.
    if (event.type === 'perk_named' || event.type === 'campaign_named' || event.at < this.keptFrom)
      return false;
    this.batch.push(event);
    if (this.batch.length === EVENTS_AT_ONCE) await this.look();
    return true;
  }

  /** What was put aside was told by then; a conversion whose external id was counted before is not stored. */
  async finish(broker: NatsConnection): Promise<void> {
    await this.look();
    if (this.missing.size === 0) return;
    for await (const { event } of deadEvents(broker)) this.missing.delete(keyOf(event));
    const doubles = [...this.missing.values()].flatMap((event) =>
      event.type === 'conversion' && event.externalId !== undefined
        ? [{ key: keyOf(event), id: event.id, account: event.account, externalId: event.externalId }]
        : [],
    );
    const owners = await ownersOf(this.analytics, doubles);
    for (const { key, id, account, externalId } of doubles)
      if ((owners.get(`${account} ${externalId}`) ?? id) !== id) this.missing.delete(key);
    for (const { type, account, id } of this.missing.values())
      this.found.count(`a ${type} that the stream has and that is not counted`, 1, `${id} of ${account}`);
  }

  private async look(): Promise<void> {
    const batch = this.batch.splice(0);
    const stored = await storedOf(this.analytics, batch);
    for (const event of batch) if (!stored.has(keyOf(event))) this.missing.set(keyOf(event), event);
  }
}

async function* none(): AsyncGenerator<never> {}
async function* sorted<T extends { link: string }>(items: T[]): AsyncGenerator<T> {
  yield* items.sort((a, b) => (a.link < b.link ? -1 : 1));
}

/** Two walks in the order of links as one; what both have is there together. */
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
