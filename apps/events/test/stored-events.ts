import type { FeedEvent } from '@perkway/domain';
import type { TestDatabase } from '@perkway/testing';
import { randomUUID } from 'node:crypto';

/** Returns an event with default members. */
export const anEvent = (given: Partial<FeedEvent> = {}): FeedEvent => ({
  id: randomUUID(),
  type: 'perk.clicked',
  occurred_at: new Date().toISOString(),
  subject: 'perk/coffee',
  data: { perk_id: 'coffee' },
  ...given,
});

/** Appends events to the feed of an account directly, without the stream. */
export async function storeEvents(
  database: Pick<TestDatabase, 'query'>,
  account: string,
  ...events: FeedEvent[]
): Promise<void> {
  await database.query(
    `with feed as (
       insert into feeds (account_id, last_position) values ($1, $3)
       on conflict (account_id) do update set last_position = feeds.last_position + $3
       returning last_position
     )
     insert into events (account_id, position, id, type, occurred_at, stored_at, subject, data)
     select $1, last_position - $3 + e.number, e.value->>'id', e.value->>'type', (e.value->>'occurred_at')::timestamptz,
       now(), e.value->>'subject', e.value->'data'
     from feed, jsonb_array_elements($2::jsonb) with ordinality e (value, number)`,
    [account, JSON.stringify(events), events.length],
  );
}
