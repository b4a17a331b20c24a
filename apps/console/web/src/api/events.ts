import { perkway, responseOf } from './perkway';
import type { FeedEvent, FeedPage } from './types';

/** Maximum number of events that the first read returns. */
const SHOWN = 100;
/** Maximum number of events that a screen keeps while newer ones arrive. */
const MOST_SHOWN = 500;
const PAGE = 1_000;
const MAX_PAGES = 20;
const MINUTE_MS = 60_000;
/**
 * The feed can only be read forward, so the latest events are searched in longer and longer periods, and then in the
 * whole feed.
 */
const WINDOWS_MS = [1, 15, 120, 1_440, 10_080].map((minutes) => minutes * MINUTE_MS);
const WAIT_S = 20;

export interface Filter {
  type: string;
  subject: string;
}

export interface Latest {
  /** Newest received first: the order of the feed, reversed. */
  events: FeedEvent[];
  /** The cursor for newer events. */
  cursor: string;
  /** Start of the period in which the events were searched; null for the whole feed. */
  since: string | null;
}

type Query = NonNullable<Parameters<typeof perkway.events.listEvents>[0]>;
/** @param types empty for all */
const readPage = ({ types, ...query }: Query, signal: AbortSignal) =>
  responseOf(perkway.events.listEvents({ ...query, ...(types && { types }) }, { signal }));

const matching = ({ data }: FeedPage, { subject }: Filter) =>
  data.filter((event) => subject === '' || event.subject === subject).reverse();

/** Returns the latest events since a time; `isWhole` is false if it stopped after 20 pages, before the latest ones. */
async function readSince(since: string | undefined, filter: Filter, signal: AbortSignal) {
  let events: FeedEvent[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const from = cursor === undefined ? since : undefined;
    const page = await readPage({ cursor, from, types: filter.type, limit: PAGE }, signal);
    events = [...matching(page, filter), ...events].slice(0, SHOWN);
    cursor = page.next_cursor;
    if (!page.has_more) return { events, cursor, isWhole: true };
  }
  return { events, cursor: cursor!, isWhole: false };
}

export async function readLatest(filter: Filter, signal: AbortSignal): Promise<Latest> {
  let latest: Latest | undefined;
  for (const time of [...WINDOWS_MS, undefined]) {
    const since = time === undefined ? undefined : new Date(Date.now() - time).toISOString();
    const { isWhole, ...found } = await readSince(since, filter, signal);
    if (!isWhole && latest) break;
    latest = { ...found, since: since ?? null };
    if (!isWhole || found.events.length >= SHOWN) break;
  }
  return latest!;
}

/** Waits up to 20 seconds for newer events. */
export async function readNewer({ cursor }: Latest, filter: Filter, signal: AbortSignal) {
  const page = await readPage({ cursor, types: filter.type, limit: PAGE, wait: WAIT_S }, signal);
  return { events: matching(page, filter), cursor: page.next_cursor };
}

export const withNewer = (latest: Latest, newer: Pick<Latest, 'events' | 'cursor'>): Latest => ({
  ...latest,
  cursor: newer.cursor,
  events: [...newer.events, ...latest.events].slice(0, MOST_SHOWN),
});
