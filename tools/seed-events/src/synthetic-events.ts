import { Random } from './random.js';

/** Prefix of every account, perk and campaign, so that nobody takes them for real. */
export const MARK = 'synthetic';

export interface SeedPlan {
  /** Total number of events. */
  events: number;
  seed: number;
  /** Epoch milliseconds of a full hour. All events are earlier. */
  until: number;
}

export const MONTHS = 14;
const ACCOUNTS = 20;
const PERKS = 200;
const CAMPAIGNS = 13;
export const HOUR_MS = 3_600_000;

const number = (value: number, width: number): string => String(value + 1).padStart(width, '0');
export const accounts = Array.from({ length: ACCOUNTS }, (_, index) => `${MARK}-${number(index, 2)}`);
export const perks = Array.from({ length: PERKS }, (_, index) => ({
  id: `${MARK}-perk-${number(index, 3)}`,
  title: `Synthetic perk ${number(index, 3)}`,
  partner: `${MARK}-partner-${number(index % 40, 2)}`,
}));
export const campaigns = Array.from({ length: CAMPAIGNS }, (_, index) => ({
  id: `${MARK}-campaign-${number(index, 2)}`,
  name: `Synthetic campaign ${number(index, 2)}`,
}));
export const ATTRIBUTES = ['segment', 'plan'];

/** The largest account has 20 times the events of the smallest. */
const SHARES = accounts.map((_, index) => 1 / (index + 1));
const SHARE_SUM = SHARES.reduce((sum, share) => sum + share, 0);
const CUMULATED = SHARES.map((_, index) => SHARES.slice(0, index + 1).reduce((sum, share) => sum + share, 0));
/** A lookup table for accounts, which is faster than millions of searches. */
const ACCOUNT_TABLE = Array.from({ length: 4_096 }, (_, index) =>
  CUMULATED.findIndex((sum) => sum >= ((index + 0.5) / 4_096) * SHARE_SUM),
);

const monthStart = (until: number, back: number): number => {
  const at = new Date(until - 1);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - back, 1);
};
export interface MonthPlan {
  /** The name of the partition, such as `2026_01`. */
  name: string;
  from: number;
  to: number;
  /** Number of events in each hour of the month before `until`. */
  hours: number[];
  events: number;
}

/** Returns the weight of an hour: higher by day and on weekdays, and growing over time. */
function weightOf(at: number, since: number): number {
  const date = new Date(at);
  const byHour = 1 + 0.8 * Math.sin(((date.getUTCHours() - 7) / 24) * 2 * Math.PI);
  const byDay = date.getUTCDay() % 6 === 0 ? 0.6 : 1;
  return byHour * byDay * (1 + (at - since) / (420 * 24 * HOUR_MS));
}

/** Returns the number of events per hour, rounded so that they add up to the total. */
export function planMonths({ events, until }: SeedPlan): MonthPlan[] {
  const since = monthStart(until, MONTHS - 1);
  const hours: number[] = [];
  for (let at = since; at < until; at += HOUR_MS) hours.push(at);
  const total = hours.reduce((sum, at) => sum + weightOf(at, since), 0);
  const months = Array.from({ length: MONTHS }, (_, index): MonthPlan => {
    const from = monthStart(until, MONTHS - 1 - index);
    const name = new Date(from).toISOString().slice(0, 7).replace('-', '_');
    return { name, from, to: monthStart(until, MONTHS - 2 - index), hours: [], events: 0 };
  });
  let weight = 0;
  let planned = 0;
  let month = 0;
  for (const at of hours) {
    while (at >= months[month]!.to) month += 1;
    weight += weightOf(at, since);
    const upToHere = Math.round((weight / total) * events);
    months[month]!.hours.push(upToHere - planned);
    months[month]!.events += upToHere - planned;
    planned = upToHere;
  }
  return months;
}

/** The columns of `tracking_events` in the order in which `copyLines` writes them. */
export const COPY_COLUMNS = [
  ...['account_id', 'occurred_at', 'id', 'type', 'perk_id', 'perk_ids', 'collection_id', 'campaign_id'],
  ...['journey_id', 'channel', 'traffic_class', 'traffic_reason', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['cmeta', 'value', 'currency', 'state', 'pool_id', 'denomination', 'created_by'],
];
const NULL = '\\N';
const CHUNK_BYTES = 256 * 1024;

const SOURCES = ['newsletter', 'app', 'website', 'partner', 'social'];
const MEDIA = ['email', 'push', 'banner'];
const SEGMENTS = ['new', 'loyal', 'gold', 'platinum', 'returning', 'at-risk'];
const PLANS = ['basic', 'plus', 'family', 'business'];
const TRAFFIC: [cls: string, reason: string][] = [
  ['bot', 'user-agent:googlebot'],
  ['prefetch', 'header:purpose'],
  ['mail_proxy', 'address:mail-proxy'],
];

/** Generates the events of one month, hour by hour, as input for `copy ... from stdin`. */
export function* copyLines(month: MonthPlan, { seed }: SeedPlan): Generator<string> {
  const random = new Random(seed * 100_003 + month.from / HOUR_MS);
  const id = Buffer.alloc(16);
  let chunk = '';
  for (const [hour, events] of month.hours.entries()) {
    const from = month.from + hour * HOUR_MS;
    for (let nth = 0; nth < events; nth += 1) {
      // Roughly in order of time with all accounts interleaved, as events arrive.
      const at = from + Math.floor(((nth + random.below(1_000) / 1_000) / events) * HOUR_MS);
      for (let word = 0; word < 4; word += 1) id.writeInt32LE(random.bits(), word * 4);
      chunk += line(random, new Date(at).toISOString(), id.toString('base64url'));
      if (chunk.length > CHUNK_BYTES) {
        yield chunk;
        chunk = '';
      }
    }
  }
  if (chunk) yield chunk;
}

function line(random: Random, at: string, id: string): string {
  const account = accounts[ACCOUNT_TABLE[random.below(4_096)]!]!;
  const head = `${account}\t${at}\t${id}\t`;
  const kind = random.below(100);
  if (kind >= 98) return head + rewardLink(random);
  const journey = `j-${random.below(400_000).toString(36)}`;
  const perk = perks[random.skewed(PERKS)]!.id;
  const campaign = campaigns[random.skewed(CAMPAIGNS)]!.id;
  const collection = `${MARK}-collection-${random.below(5) + 1}`;
  const tags = tagsOf(random);
  const nothing = `\t${NULL}\t${NULL}\t${NULL}\t${NULL}\t${NULL}\t${NULL}\n`;
  if (kind < 32) {
    const first = random.below(PERKS);
    const shown = Array.from(
      { length: 6 + random.below(19) },
      (_, each) => perks[(first + each) % PERKS]!.id,
    );
    return `${head}perk_view\t${NULL}\t{${shown.join(',')}}\t${collection}\t${NULL}\t${NULL}\t${NULL}\t${NULL}\t${NULL}\t${tags}${nothing}`;
  }
  const [traffic, reason] =
    kind < 95 && random.chance(0.15) ? TRAFFIC[random.below(TRAFFIC.length)]! : ['human', 'default'];
  if (kind < 46)
    return `${head}perk_click\t${perk}\t${NULL}\t${collection}\t${NULL}\t${random.chance(0.5) ? journey : NULL}\t${NULL}\t${traffic}\t${reason}\t${tags}${nothing}`;
  const channel = random.chance(0.7) ? 'outreach' : 'journey';
  const inCampaign = (type: string, of: string, seen: string) =>
    `${head}${type}\t${of}\t${NULL}\t${NULL}\t${campaign}\t${journey}\t${seen}\t${tags}`;
  if (kind < 76) return inCampaign('teaser_view', NULL, `${channel}\t${traffic}\t${reason}`) + nothing;
  if (kind < 88) return inCampaign('reward_view', NULL, `${channel}\t${traffic}\t${reason}`) + nothing;
  if (kind < 95) return inCampaign('incentive_click', perk, `${channel}\t${traffic}\t${reason}`) + nothing;
  const value = `${random.below(200)}.${String(random.below(100)).padStart(2, '0')}`;
  return `${inCampaign('conversion', perk, `${NULL}\t${NULL}\t${NULL}`)}\t${value}\tEUR\t${NULL}\t${NULL}\t${NULL}\t${NULL}\n`;
}

function tagsOf(random: Random): string {
  const source = random.chance(0.7) ? SOURCES[random.below(SOURCES.length)]! : NULL;
  const medium = source === NULL ? NULL : MEDIA[random.below(MEDIA.length)]!;
  const campaign = random.chance(0.3) ? `${MARK}-utm-${random.below(30)}` : NULL;
  const cmeta = random.chance(0.6)
    ? `{"segment":"${SEGMENTS[random.skewed(SEGMENTS.length)]}","plan":"${PLANS[random.below(PLANS.length)]}"}`
    : NULL;
  return `${source}\t${medium}\t${campaign}\t${cmeta}`;
}

function rewardLink(random: Random): string {
  const state = random.chance(0.6) ? 'generated' : 'revealed';
  const nulls = Array(12).fill(NULL).join('\t');
  return `reward_link\t${nulls}\t${NULL}\tEUR\t${state}\t${MARK}-pool\t${[10, 25, 50][random.below(3)]}\t${MARK}\n`;
}
