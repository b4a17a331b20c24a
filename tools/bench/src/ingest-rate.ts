import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { TRACKING_EVENT_VERSION, trackingSubject, type CampaignViewEvent } from '@perkway/domain';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Fleet } from './fleet.js';

const BATCH = 1_000;
const IN_FLIGHT = 64;
const POLL_MS = 20;

const someEvent = (account: string, at: number): CampaignViewEvent => ({
  v: TRACKING_EVENT_VERSION,
  id: randomUUID(),
  account,
  at,
  type: 'teaser_view',
  campaign: `campaign-${at % 13}`,
  journey: `journey-${at % 997}`,
  channel: 'outreach',
  traffic: { class: 'human', reason: 'default' },
  cmeta: { segment: `s${at % 5}` },
});
const someEvents = (account: string, events: number): CampaignViewEvent[] =>
  Array.from({ length: events }, (_, index) => someEvent(account, Date.now() - index));

/** Events per second from the first message to the last stored event. */
export async function ingestRate(
  fleet: Fleet,
  client: pg.Client,
  events: number,
  perMessage: number,
): Promise<number> {
  const account = `bench-${randomUUID()}`;
  const all = someEvents(account, events);
  const messages: string[] = [];
  for (let at = 0; at < all.length; at += perMessage)
    messages.push(JSON.stringify({ events: all.slice(at, at + perMessage) }));
  const connection = await connect({ servers: fleet.natsUrl });
  const stream = jetstream(connection);
  const before = await storedTotal(fleet);
  const started = Date.now();
  const publish = async () => {
    for (let body = messages.pop(); body; body = messages.pop())
      await stream.publish(trackingSubject('bench'), body);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, publish));
  while ((await storedTotal(fleet)) < before + events) await sleep(POLL_MS);
  const seconds = (Date.now() - started) / 1_000;
  await connection.close();
  await client.query('delete from tracking_events where account_id = $1', [account]);
  return events / seconds;
}

async function storedTotal(fleet: Fleet): Promise<number> {
  const text = await (await fetch(`${fleet.urls['analytics-query']}/metrics`)).text();
  return Number(/^tracking_events_stored_total\{.*\} (\d+)/m.exec(text)?.[1] ?? 0);
}

/** Events per second by nothing but the insert, in batches of a thousand. */
export async function plainRate(client: pg.Client, events: number): Promise<number> {
  const account = `bench-${randomUUID()}`;
  const all = someEvents(account, events);
  const started = Date.now();
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH);
    await client.query(
      `insert into tracking_events (account_id, occurred_at, id, type, campaign_id, journey_id, channel, traffic_class, traffic_reason, cmeta)
       select a, t, i, 'teaser_view', c, j, 'outreach', 'human', 'default', m::jsonb
       from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[]) as u (a, t, i, c, j, m)
       on conflict do nothing`,
      [
        batch.map((event) => event.account),
        batch.map((event) => new Date(event.at).toISOString()),
        batch.map((event) => event.id),
        batch.map((event) => event.campaign),
        batch.map((event) => event.journey),
        batch.map((event) => JSON.stringify(event.cmeta)),
      ],
    );
  }
  const seconds = (Date.now() - started) / 1_000;
  await client.query('delete from tracking_events where account_id = $1', [account]);
  return events / seconds;
}
