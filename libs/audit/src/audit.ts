import { withBroker } from '@perkway/local-servers';
import pg from 'pg';
import { auditGiftCards, type CardsReport } from './audit-gift-cards.js';
import { compareEvents, type EventsReport } from './compare-events.js';
import { toText } from './to-text.js';

export interface AuditOptions {
  /** URL of the gift-cards database, with a role that can read the schema gift_cards. */
  databaseUrl: string;
  /** URL of the analytics database. Default: `databaseUrl`. */
  analyticsUrl?: string;
  /** URL of the broker, with a user that has all permissions. Without it, the stream is not compared. */
  natsUrl?: string;
  /** Events younger than this many seconds may still be in transit. */
  graceS?: number;
}

export interface Audit {
  passed: boolean;
  report: CardsReport & { events: EventsReport };
  /** The report as text. */
  output: string;
}

/** Longer than the ingest normally takes to store an event. */
const GRACE_S = 300;
const CONNECT_TIMEOUT_MS = 10_000;

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString,
    application_name: 'audit',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Audits the gift cards, compares link rows with their stored events, and checks that each event in the stream is
 * stored. Read-only.
 */
export const audit = ({
  databaseUrl,
  analyticsUrl = databaseUrl,
  natsUrl,
  graceS = GRACE_S,
}: AuditOptions): Promise<Audit> =>
  withClient(databaseUrl, (giftCards) =>
    withClient(analyticsUrl, async (analytics) => {
      const sources = { giftCards, analytics, graceS };
      const events = natsUrl
        ? await withBroker(natsUrl, (broker) => compareEvents({ ...sources, broker }))
        : await compareEvents(sources);
      const cards = await auditGiftCards(giftCards);
      const passed = cards.passed && events.findings.length === 0;
      return { passed, report: { ...cards, events, passed }, output: toText(cards, events) };
    }),
  );
