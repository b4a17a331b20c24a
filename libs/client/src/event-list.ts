import type { Reply } from './call.js';
import { SYSTEM_CLOCK, type Clock } from './clock.js';
import { PerkwayError } from './perkway-error.js';
import type { CallOptions, Input } from './send.js';
import type { WebhookEvent } from './verify-webhook.js';

export interface EventListInput {
  /** The `cursor` of an earlier list, after which this one continues. */
  cursor?: string;
  /** Without a cursor: only events stored at or after this time (ISO 8601). */
  from?: string;
  types?: readonly string[];
  /** Events per request. Default: 100. */
  limit?: number;
}

/** The events of the account, in order. Waits for new ones, so the iteration does not end by itself. */
export interface EventList extends AsyncIterable<WebhookEvent> {
  /** Continuing here misses nothing: it follows the last page whose events were all consumed. */
  readonly cursor: string | undefined;
}

interface EventPage {
  data: WebhookEvent[];
  next_cursor: string;
}

/** How long the service may hold a request until there are events. A short `timeoutMs` lowers it. */
const WAIT_S = 20;
const PAUSE_MS = 5_000;

/** @param send requests one page of `GET /events` */
export function eventList(
  send: (input: Input, options: CallOptions) => Promise<Reply>,
  { cursor: start, types, ...input }: EventListInput,
  options: CallOptions,
  timeoutMs: number,
  clock: Clock = SYSTEM_CLOCK,
): EventList {
  let cursor = start;
  const wait = Math.max(0, Math.min(WAIT_S, Math.floor(timeoutMs / 1_000) - 5));
  const page = async (): Promise<EventPage> => {
    for (;;)
      try {
        const query = cursor === undefined ? input : { limit: input.limit, cursor };
        const { data } = await send({ ...query, types: types?.join(','), wait }, options);
        return data as EventPage;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        await clock.sleep(PAUSE_MS, options.signal);
      }
  };
  return {
    get cursor() {
      return cursor;
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const { data, next_cursor } = await page();
        yield* data;
        cursor = next_cursor;
      }
    },
  };
}

const isTemporary = (error: unknown): boolean =>
  error instanceof PerkwayError &&
  (error.code === 'CONNECTION_FAILED' || error.status === 429 || (error.status ?? 0) >= 500);
