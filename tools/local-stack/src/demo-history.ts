import { jetstream, JetStreamApiError } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { parseBrokerUrl, trackingSubject, type TrackingEvent } from '@perkway/domain';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A year of plausible events of one demo campaign, so that analytics has data from the start (docs/local-stack.md).
 * Each is marked as demo data: its id and journey begin with `demo-`, and it has the attribute `cmeta_demo=history`.
 * The events go through the same stream as all others. They are derived from the day and their number alone, so
 * publishing them again does not count them twice.
 */
export const DEMO_HISTORY = {
  account: 'ostervale-bank',
  campaign: 'ostervale-spring-travel',
  /** The most popular first. */
  perks: [
    'fernway-weekend',
    'quillon-third-night',
    'carrovia-weekend',
    'fernway-first-upgrade',
    'quillon-late-checkout',
    'carrovia-electric',
  ],
};
const DAYS = 365;
const DAY_MS = 86_400_000;
/** Journeys on an ordinary weekday. */
const JOURNEYS_A_DAY = 16;
const EVENTS_PER_MESSAGE = 500;
const STREAM_ATTEMPTS = 20;

const SOURCES = ['newsletter', 'newsletter', 'newsletter', 'app', 'app', 'website'];
const TRAFFIC = [
  { class: 'bot', reason: 'user-agent:googlebot' },
  { class: 'prefetch', reason: 'header:purpose' },
  { class: 'mail_proxy', reason: 'address:mail-proxy' },
] as const;
const HUMAN = { class: 'human', reason: 'none' } as const;

/** Returns a seeded generator of pseudo-random numbers (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/**
 * Returns the number of journeys on a day: more in spring, before Christmas and on weekdays, with a mailing every other
 * Tuesday. @param day since 1970
 */
export function journeysOf(day: number): number {
  const date = new Date(day * DAY_MS);
  const month = date.getUTCMonth();
  const season = month >= 2 && month <= 4 ? 1.6 : month === 11 ? 1.3 : month === 7 ? 0.7 : 1;
  const weekday = date.getUTCDay() % 6 === 0 ? 0.5 : 1;
  const mailing = date.getUTCDay() === 2 && Math.floor(day / 7) % 2 === 0 ? 3 : 1;
  return Math.round(JOURNEYS_A_DAY * season * weekday * mailing * (0.85 + 0.3 * randomOf(day)()));
}

/** Generates the events of a day, journey by journey. */
export function* eventsOf(day: number): Generator<TrackingEvent> {
  const { account, campaign, perks } = DEMO_HISTORY;
  for (let number = 0; number < journeysOf(day); number += 1) {
    const random = randomOf(day * 1_000 + number);
    const journey = `demo-${day}-${number}`;
    const traffic = random() < 0.12 ? TRAFFIC[Math.floor(random() * TRAFFIC.length)]! : HUMAN;
    const isPerson = traffic === HUMAN;
    // Begins between 07:00 and 21:00 UTC.
    let at = day * DAY_MS + (7 + 14 * random()) * 3_600_000;
    const later = () => Math.floor((at += 5_000 + random() * 600_000));
    const common = {
      v: 1,
      account,
      campaign,
      journey,
      utm: { utm_source: SOURCES[Math.floor(random() * SOURCES.length)]!, utm_campaign: 'spring-travel' },
      cmeta: { demo: 'history' },
    } as const;
    const channel = 'outreach';
    yield { ...common, id: `${journey}-t`, at: later(), type: 'teaser_view', channel, traffic };
    if (isPerson && random() > 0.55) continue;
    const perk = perks[Math.floor(perks.length * random() * random())]!;
    yield {
      ...common,
      id: `${journey}-r`,
      at: later(),
      type: 'reward_view',
      channel: 'journey',
      perk,
      traffic,
    };
    if (random() > (isPerson ? 0.42 : 0.3)) continue;
    yield { ...common, id: `${journey}-c`, at: later(), type: 'incentive_click', channel, perk, traffic };
    if (!isPerson || random() > 0.2) continue;
    const value = Math.round((40 + 260 * random()) * 100) / 100;
    yield { ...common, id: `${journey}-b`, at: later(), type: 'conversion', perk, value, currency: 'EUR' };
  }
}

interface HistoryOptions {
  /** Connects as a user that may publish as any app. */
  natsUrl: string;
  /** Records the last day that was published. */
  stateFile: string;
  now?: number;
}

/** Publishes the missing days up to yesterday. @returns the number of events */
export async function publishDemoHistory({
  natsUrl,
  stateFile,
  now = Date.now(),
}: HistoryOptions): Promise<number> {
  const today = Math.floor(now / DAY_MS);
  const from = Math.max(today - DAYS, readDay(stateFile) + 1);
  const events: TrackingEvent[] = [];
  for (let day = from; day < today; day += 1) events.push(...eventsOf(day));
  if (events.length === 0) return 0;
  const { servers, user, password, token, tls } = parseBrokerUrl(natsUrl);
  const connection = await connect({
    servers,
    ...(token ? { token } : user ? { user, pass: password } : {}),
    ...(tls ? { tls: {} } : {}),
    timeout: 5_000,
  });
  try {
    const stream = jetstream(connection, { timeout: 5_000 });
    for (let start = 0; start < events.length; start += EVENTS_PER_MESSAGE) {
      const message = JSON.stringify({ events: events.slice(start, start + EVENTS_PER_MESSAGE) });
      await untilTaken(() => stream.publish(trackingSubject('boost'), message));
    }
  } finally {
    await connection.close();
  }
  writeFileSync(stateFile, `${JSON.stringify({ day: today - 1 })}\n`);
  return events.length;
}

/** Retries until the stream exists. The event store creates it when it starts, which may be a moment later. */
async function untilTaken(publish: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return void (await publish());
    } catch (error) {
      if (attempt === STREAM_ATTEMPTS || error instanceof JetStreamApiError) throw error;
      await sleep(250);
    }
}

function readDay(file: string): number {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { day: number }).day;
  } catch {
    return -1;
  }
}
