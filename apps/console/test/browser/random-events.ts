import { jetstream } from '@nats-io/jetstream';
import {
  deriveJourneyId,
  subjectOf,
  TRACKING_EVENT_VERSION,
  type Traffic,
  type TrackingEvent,
} from '@perkway/domain';
import { pick, seededRandom } from '@perkway/test-fleet/random';
import { connectTo } from '@perkway/testing';

/** More than two periods of a month. */
const DAYS = 75;
const DAY_MS = 86_400_000;
const EVENTS_PER_MESSAGE = 500;
const TRAFFIC: Traffic[] = [
  { class: 'bot', reason: 'user-agent:googlebot' },
  { class: 'prefetch', reason: 'header:purpose' },
  { class: 'mail_proxy', reason: 'address:mail-proxy' },
];
const HUMAN: Traffic = { class: 'human', reason: 'none' };
const SOURCES = [undefined, undefined, 'newsletter', 'app', 'Läden & more', 'partner: 10 %'];
const MEDIA = [undefined, 'email', 'push'];
const CURRENCIES = ['EUR', 'EUR', 'GBP'];
const PLANS = [undefined, 'silver', 'gold', 'null'];

export interface Traded {
  account: string;
  collections: string[];
  campaigns: string[];
  perks: string[];
  /** One of the perks, which no person ever saw or clicked in a campaign. */
  botsPerk: string;
  pool: string;
}

/** Generates exactly `count` events of every kind, with bots, without journeys, and of former perks and campaigns. */
export function randomEvents(seed: number, count: number, traded: Traded): TrackingEvent[] {
  const random = seededRandom(seed);
  const one = <T>(from: readonly T[]) => pick(from, random);
  const { account } = traded;
  const events: TrackingEvent[] = [];
  const now = Date.now();
  // Some seeds have few journeys with many events, others many with few.
  const journeys = 100 + Math.floor(1_500 * random());
  const botShare = 0.4 * random();
  const unevenly = <T>(from: readonly T[]) => from[Math.floor(from.length * random() * random())]!;
  for (let nth = 0; events.length < count; nth += 1) {
    const id = `${account}-${nth}`;
    const at = now - 60_000 - Math.floor(random() ** 1.5 * DAYS * DAY_MS);
    const campaign = unevenly(traded.campaigns);
    const collection = one(traded.collections);
    const perk = unevenly(traded.perks);
    const journey =
      random() < 0.05 ? deriveJourneyId(campaign) : `journey-${Math.floor(random() * journeys)}`;
    const source = unevenly(SOURCES);
    const medium = one(MEDIA);
    const plan = one(PLANS);
    const utm = { ...(source && { utm_source: source }), ...(medium && { utm_medium: medium }) };
    const head = {
      v: TRACKING_EVENT_VERSION,
      id,
      account,
      at,
      ...(Object.keys(utm).length > 0 && { utm }),
      ...(plan && { cmeta: { plan } }),
    } as const;
    const traffic = perk === traded.botsPerk || random() < botShare ? one(TRAFFIC) : HUMAN;
    const fromBrowser = random() < 0.5 ? { traffic } : {};
    const channel = one(['outreach', 'journey'] as const);
    const inCampaign = { ...head, campaign, journey, channel, traffic };
    const kind = random();
    if (kind < 0.12) {
      const first = Math.floor(random() * traded.perks.length);
      const perks = traded.perks.slice(first, first + 1 + Math.floor(random() * traded.perks.length));
      events.push({ ...head, ...fromBrowser, type: 'perk_view', collection, perks });
    } else if (kind < 0.22)
      events.push({
        ...head,
        type: 'perk_click',
        collection,
        perk,
        traffic,
        ...(random() < 0.5 && { journey }),
      });
    else if (kind < 0.55)
      events.push({ ...inCampaign, type: 'teaser_view', ...(random() < 0.3 && { perk }) });
    else if (kind < 0.7) events.push({ ...inCampaign, type: 'reward_view', ...(random() < 0.6 && { perk }) });
    else if (kind < 0.85) events.push({ ...inCampaign, type: 'incentive_click', perk });
    else if (kind < 0.93)
      events.push({
        ...head,
        ...fromBrowser,
        type: 'conversion',
        campaign,
        journey,
        ...(perk !== traded.botsPerk && random() < 0.8 && { perk }),
        ...(random() < 0.7 && { value: Math.floor(random() * 20_000) / 100, currency: one(CURRENCIES) }),
      });
    else {
      const link = {
        ...head,
        type: 'reward_link',
        pool: traded.pool,
        denomination: one([10, 25, 12.5]),
        currency: one(CURRENCIES),
        createdBy: one(['ann', 'ben']),
        ...(random() < 0.9 && { campaign, ...(random() < 0.6 && { journey }) }),
      } as const;
      events.push({ ...link, id: `${id}:generated`, state: 'generated' });
      const next = one([undefined, 'revealed', 'revealed', 'cancelled', 'expired'] as const);
      if (next && events.length < count)
        events.push({
          ...link,
          id: `${id}:${next}`,
          state: next,
          at: at + Math.floor(random() * (now - 30_000 - at)),
        });
    }
  }
  return events;
}

/** Publishes events to the stream, each with the subject of the app that tracks its type. */
export async function publishEvents(natsUrl: string, events: TrackingEvent[]): Promise<void> {
  const connection = await connectTo(natsUrl);
  try {
    const stream = jetstream(connection);
    const subjects = [...new Set(events.map(({ type }) => subjectOf(type)))];
    for (const subject of subjects) {
      const own = events.filter(({ type }) => subjectOf(type) === subject);
      for (let start = 0; start < own.length; start += EVENTS_PER_MESSAGE)
        await stream.publish(
          subject,
          JSON.stringify({ events: own.slice(start, start + EVENTS_PER_MESSAGE) }),
        );
    }
  } finally {
    await connection.close();
  }
}
