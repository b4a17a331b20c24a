import { pick, seededRandom } from '@perkway/test-fleet/random';
import { http, waitFor } from '@perkway/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { ADMIN_KEY, ConsoleStage, perkBody } from './console-stage';
import { publishEvents, randomEvents, type Traded } from './random-events';
import { readScreen, type Shown } from './read-figures';

/**
 * Compares the figures of every analytics screen with queries to the query host of their own, and some with SQL. Each
 * seed is an account with random events, dates and time zone. CONSOLE_FIGURE_SEEDS sets the number of seeds,
 * CONSOLE_FIRST_SEED the first.
 */
const FIRST = Number(process.env.CONSOLE_FIRST_SEED ?? 1);
const SEEDS = Array.from({ length: Number(process.env.CONSOLE_FIGURE_SEEDS ?? 2) }, (_, nth) => FIRST + nth);
const EVENTS = 5_000;
const ZONES = ['UTC', 'Europe/Paris', 'America/St_Johns', 'Asia/Tokyo', 'America/Los_Angeles'];
const PERKS = [1, 2, 3, 4, 5, 6].map((nth) => ({ id: `figure-perk-${nth}`, title: `Offer ${nth} of six` }));
const BOTS_PERK = PERKS[4]!.id;

type Range = readonly [from: string, to: string];
type Row = Record<string, string | number | null>;
type Filter = { member: string; operator: string; values?: string[] };
interface Question {
  measures: string[];
  dimensions?: string[];
  range: Range;
  granularity?: 'day' | 'week' | 'month';
  filters?: Filter[];
}
interface Subject extends Traded {
  key: string;
  zone: string;
  now: Range;
  before: Range;
  random: () => number;
  load: (cube: string, question: Question) => Promise<Row[]>;
}

const stage = new ConsoleStage();
beforeAll(async () => {
  await stage.start();
  const catalogue = stage.fleet.admin('perks');
  for (const { id, title } of PERKS)
    await catalogue.put(`/admin/perks/${id}`).send(perkBody(title)).expect(200);
}, 300_000);
afterAll(() => stage.stop());

const DAY_MS = 86_400_000;
const addDays = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
const daysIn = ([from, to]: Range): string[] => {
  const days = [];
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
  return days;
};
const number = (value: number) => new Intl.NumberFormat('en-GB').format(value);
const percent = (value: number) =>
  new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 }).format(value);
const signed = (value: number) =>
  new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1, signDisplay: 'exceptZero' })
    .format(value)
    .replace('-', '−');
const points = (difference: number) =>
  `${signed(100 * difference)} ${['+1', '−1'].includes(signed(100 * difference)) ? 'point' : 'points'}`;
const share = (part: number, whole: number, none = '–') => (whole > 0 ? percent(part / whole) : none);
const longDay = (day: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day));
const sum = (values: number[]) => values.reduce((all, one) => all + one, 0);
const sorted = (rows: string[][]) => rows.map((row) => row.join(' | ')).sort();

/** Creates an account with campaigns and random events, and waits until all of them are stored. */
async function aSubject(seed: number): Promise<Subject> {
  const random = seededRandom(seed + 1_000_000);
  const { account, key } = await stage.fleet.anAccount();
  const campaigns = ['spring', 'summer', 'autumn'].map((name) => `${name}-${randomBytes(4).toString('hex')}`);
  for (const [nth, id] of campaigns.entries())
    await stage.fleet
      .admin('boost')
      .put(`/admin/campaigns/${id}`)
      .send({
        owner: account,
        name: `Campaign ${nth + 1}`,
        incentives: PERKS.slice(0, 2 + nth).map((perk) => perk.id),
      })
      .expect(200);
  const collections = [`${account}-rewards`, `${account}-travel`];
  const perks = PERKS.map(({ id }, index) => ({ id, rank: index + 1 }));
  await stage.fleet
    .admin('perks')
    .put(`/admin/perk-collections/${collections[0]}`)
    .send({ owner: account, groups: [{ name: 'All', rank: 1, perks }] })
    .expect(200);
  const traded: Traded = {
    account,
    // The last ones do not exist any more, so they have no names.
    campaigns: [...campaigns, `former-${account}`],
    perks: [...PERKS.map(({ id }) => id), 'former-perk'],
    botsPerk: BOTS_PERK,
    collections,
    pool: randomUUID(),
  };
  await publishEvents(stage.fleet.nats.url, randomEvents(seed, EVENTS, traded));
  await waitFor(
    async () => {
      const [stored] = await stage.fleet.database.query(
        `select (select count(*)::integer from analytics.tracking_events where account_id = $1) as events,
           (select count(*)::integer from analytics.campaign_names where account_id = $1) as campaigns,
           (select count(*)::integer from analytics.perk_names where perk_id = any($2)) as perks`,
        [account, PERKS.map(({ id }) => id)],
      );
      return isDeepStrictEqual({ ...stored }, { events: EVENTS, campaigns: 3, perks: PERKS.length });
    },
    'the events to be stored',
    120_000,
  );
  const zone = ZONES[seed % ZONES.length]!;
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date());
  const length = pick([1, 7, 30, 30, 31, 60], random);
  const to = addDays(today, -Math.floor(random() ** 2 * 12));
  const endOfMonth = addDays(`${today.slice(0, 7)}-01`, -1);
  // Every fifth seed has a whole calendar month, which is compared with the month before it.
  const isMonth = seed % 5 === 2;
  const now: Range = isMonth ? [`${endOfMonth.slice(0, 7)}-01`, endOfMonth] : [addDays(to, 1 - length), to];
  const endBefore = addDays(now[0], -1);
  const before: Range = [isMonth ? `${endBefore.slice(0, 7)}-01` : addDays(now[0], -length), endBefore];
  return { ...traded, key, now, before, zone, random, load: readerOf(key, zone) };
}

/** Returns what loads queries from the query host, with members named without their cube. */
function readerOf(key: string, zone: string): Subject['load'] {
  const issuer = http({ url: stage.fleet.urls['token-issuer']! }, { key });
  let token: { authorization: string; until: number } | undefined;
  return async (cube, { measures, dimensions = [], range, granularity, filters = [] }) => {
    if (!token || token.until < Date.now())
      token = {
        authorization: (await issuer.get('/cube/token').expect(200)).body.token,
        until: Date.now() + 200_000,
      };
    const member = (name: string) => `${cube}.${name}`;
    const query = {
      timezone: zone,
      measures: measures.map(member),
      dimensions: dimensions.map(member),
      timeDimensions: [{ dimension: member('occurred_at'), dateRange: range, granularity }],
      filters: filters.map((filter) => ({ ...filter, member: member(filter.member) })),
      limit: 50_000,
    };
    const host = http({ url: stage.fleet.urls['analytics-query']! }, { authorization: token.authorization });
    const { body } = await host.post('/cubejs-api/v1/load').send({ query }).expect(200);
    return (body.data as Row[]).map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name.slice(cube.length + 1), value])),
    );
  };
}

const equals = (member: string, value: string | null): Filter =>
  value === null ? { member, operator: 'notSet' } : { member, operator: 'equals', values: [value] };
const people = (cube: string) => (cube === 'reward_links' ? 'count' : 'count_people');

async function countOf(
  subject: Subject,
  cube: string,
  measure: string,
  range: Range,
  filters: Filter[] = [],
) {
  const [row] = await subject.load(cube, { measures: [measure], range, filters });
  return Number(row?.[measure] ?? 0);
}
async function byDay(subject: Subject, cube: string, range: Range, filters: Filter[] = []) {
  const measure = people(cube);
  const rows = await subject.load(cube, { measures: [measure], range, granularity: 'day', filters });
  return daysIn(range).map((day) =>
    Number(rows.find((row) => String(row['occurred_at.day']).startsWith(day))?.[measure] ?? 0),
  );
}
/** The rows of the table under a chart, the latest day first. */
async function chartRows(subject: Subject, cubes: string[], filters: Filter[] = []) {
  const ofPeriod = async (range: Range) => {
    const each = await Promise.all(cubes.map((cube) => byDay(subject, cube, range, filters)));
    return daysIn(range).map((_, day) => sum(each.map((values) => values[day]!)));
  };
  const [now, before] = await Promise.all([ofPeriod(subject.now), ofPeriod(subject.before)]);
  return daysIn(subject.now)
    .map((day, index) => [
      longDay(day),
      number(now[index]!),
      before[index] === undefined ? '–' : number(before[index]),
    ])
    .reverse();
}

/** Opens a screen and waits until it shows the expected figures. While it loads, it shows only some of them. */
async function shows<T>(page: Page, path: string, read: (shown: Shown) => T, expected: T): Promise<void> {
  await page.goto(stage.url + path);
  await keepsShowing(page, path, read, expected);
}
async function keepsShowing<T>(page: Page, path: string, read: (shown: Shown) => T, expected: T) {
  let seen: T | undefined;
  await waitFor(
    async () => isDeepStrictEqual((seen = read(await readScreen(page))), expected),
    path,
    60_000,
  ).catch(() => undefined);
  // The path is part of the difference, to name the screen.
  const failed = isDeepStrictEqual(seen, expected) ? '' : path;
  expect({ failed, seen }).toEqual({ failed: '', seen: expected });
}
const dates = ([from, to]: Range) => `from=${from}&to=${to}`;
const LINK_ONLY = /[\d,]+ of the journeys got only a reward link(?:; of the others, [\d.]+% clicked)?\./;
/** What the headline says about journeys that got only a reward link. */
async function linkOnlyOf(subject: Subject, range: Range, filters: Filter[] = []) {
  const [journeys, clickers, linkOnly] = (await Promise.all(
    ['journeys', 'clickers', 'gift_only_recipients'].map((measure) =>
      countOf(subject, FUNNEL, measure, range, filters),
    ),
  )) as [number, number, number];
  if (linkOnly === 0) return undefined;
  const others =
    journeys > linkOnly ? `; of the others, ${share(clickers, journeys - linkOnly)} clicked` : '';
  return `${number(linkOnly)} of the journeys got only a reward link${others}.`;
}
/** The journeys that comparisons divide by. */
const comparedOf = async (subject: Subject, range: Range, filters: Filter[] = []) =>
  (await countOf(subject, FUNNEL, 'journeys', range, filters)) -
  (await countOf(subject, FUNNEL, 'gift_only_recipients', range, filters));
const versusBefore = (count: number, before: number) =>
  count === before
    ? 'Same as before'
    : before === 0
      ? 'None before'
      : `${count > before ? '+' : '−'}${percent(Math.abs(count - before) / before)} vs. before`;
/** A count with its difference below it, which is not shown if it is 0 in both periods. */
const withBefore = (text: string, count: number, before: number) =>
  count + before > 0 ? `${text} ${versusBefore(count, before)}` : text;
const outcome = (journeys: number, clickers: number, converters: number) =>
  `${number(clickers)} of ${number(journeys)} journeys clicked (${share(clickers, journeys)}) and ${number(converters)} of ${number(journeys)} converted (${share(converters, journeys)}).`;
const withoutJourney = (events: number, of: number) =>
  events > 0
    ? `${number(events)} of ${number(of)} ${of === 1 ? 'event' : 'events'} of people in campaigns (${percent(events / of)}) came without`
    : 'Every campaign event has a journey id.';

const FUNNEL = 'campaign_funnel';
const IN_CAMPAIGNS = ['teaser_views', 'reward_views', 'incentive_clicks', 'conversions'];
const FIGURES: Record<string, string[]> = {
  made: ['reward_links'],
  views: ['perk_views', 'teaser_views', 'reward_views'],
  clicks: ['perk_clicks', 'incentive_clicks'],
  conversions: ['conversions'],
  revealed: ['reward_links'],
};
const STATE_OF: Record<string, string> = { made: 'generated', revealed: 'revealed' };
const CHART_TITLES: Record<string, string> = {
  made: 'Links made by day',
  views: 'Views by day',
  clicks: 'Clicks by day',
  conversions: 'Conversions by day',
  revealed: 'Links opened by day',
};

/** Reads the rates of the verdict, which names the journeys only if none are left out. */
const readRates = (text: string) =>
  text
    .match(/\d[\d.,]*% (?:of journeys )?(?:clicked|converted), [\d.,]+% in the days before/g)
    ?.map((rate) => rate.replace('of journeys ', '')) ?? null;
type Rates = Record<'compared' | 'clickers' | 'converters', number>;
const ratesOf = (now: Rates, before: Rates) =>
  now.compared > 0 && before.compared > 0
    ? [
        `${share(now.clickers, now.compared)} clicked, ${share(before.clickers, before.compared)} in the days before`,
        `${share(now.converters, now.compared)} converted, ${share(before.converters, before.compared)} in the days before`,
      ]
    : null;

/** How tables name the journeys without a value. */
const noPart = (breakdown: string) =>
  `No ${{ utm_source: 'source', utm_medium: 'medium' }[breakdown] ?? breakdown.replace('cmeta_', '')}`;

const stateFilter = (name: string): Filter[] =>
  STATE_OF[name] === undefined ? [] : [equals('state', STATE_OF[name])];

async function checkOverview(page: Page, subject: Subject): Promise<void> {
  const { now, before } = subject;
  const total = async (measure: string, range: Range) => countOf(subject, FUNNEL, measure, range);
  const [
    journeys,
    compared,
    clickers,
    converters,
    comparedBefore,
    clickersBefore,
    convertersBefore,
    derived,
    tracked,
  ] = await Promise.all([
    total('journeys', now),
    comparedOf(subject, now),
    total('clickers', now),
    total('converters', now),
    comparedOf(subject, before),
    total('clickers', before),
    total('converters', before),
    total('events_without_journey', now),
    Promise.all(IN_CAMPAIGNS.map((cube) => countOf(subject, cube, 'count_people', now))).then(sum),
  ]);
  const figures: Record<string, string> = {};
  for (const [name, cubes] of Object.entries(FIGURES)) {
    const filters = stateFilter(name);
    const all = async (range: Range, measure?: string) =>
      sum(
        await Promise.all(
          cubes.map((cube) => countOf(subject, cube, measure ?? people(cube), range, filters)),
        ),
      );
    const [current, everything, earlier] = await Promise.all([all(now), all(now, 'count'), all(before)]);
    figures[name] = `${number(current)}, ${versusBefore(current, earlier)}`;
    // Links are not told apart by people and bots.
    if (STATE_OF[name] !== undefined) continue;
    figures[`${name}-all`] =
      everything === current ? 'Same for people and all' : `${number(everything)} with bots and proxies`;
  }
  await shows(
    page,
    `/?${dates(now)}`,
    ({ figures: shown, text }) => ({
      figures: shown,
      outcome: text.includes(
        journeys > 0 ? outcome(journeys, clickers, converters) : 'No journey in these dates',
      ),
      linkOnly: text.match(LINK_ONLY)?.[0],
      rates: readRates(text),
      journeys: text.includes(withoutJourney(derived, tracked)),
    }),
    {
      figures,
      outcome: true,
      linkOnly: await linkOnlyOf(subject, now),
      rates: ratesOf(
        { compared, clickers, converters },
        { compared: comparedBefore, clickers: clickersBefore, converters: convertersBefore },
      ),
      journeys: true,
    },
  );
  for (const [name, cubes] of Object.entries(FIGURES))
    await shows(
      page,
      `/?${dates(now)}&show=${name}`,
      ({ tables }) => tables[CHART_TITLES[name]!]?.rows,
      await chartRows(subject, cubes, stateFilter(name)),
    );
  await checkSteps(page, subject, '/');
  const journeysOfBoth = { journeys: compared, journeysBefore: comparedBefore };
  await checkChanges(page, subject, '/', { ...journeysOfBoth, clickers, clickersBefore });
  const conversions = { clickers: converters, clickersBefore: convertersBefore };
  await checkChanges(page, subject, '/', { ...journeysOfBoth, ...conversions }, [], 'converters');
  await checkClicks(page, subject);
}

/** Returns the counts of each step and its amounts in each currency, and the line that names unused steps. */
async function stepsOf(subject: Subject, ofCampaign: Filter[]) {
  const { now, before, load } = subject;
  const rowOf = async (
    name: string,
    amount: (range: Range) => Promise<{ count: number; money?: Record<string, number> }>,
  ) => {
    const [current, earlier] = await Promise.all([amount(now), amount(before)]);
    const change = current.count - earlier.count;
    return [
      name,
      number(current.count),
      number(earlier.count),
      earlier.count === 0
        ? '–'
        : `${change < 0 ? '−' : change > 0 ? '+' : ''}${percent(Math.abs(change) / earlier.count)}`,
      moneyOf(current.money),
      moneyOf(earlier.money),
    ];
  };
  const rows = await Promise.all([
    ...Object.entries({
      journeys: 'Journeys with any contact',
      clickers: 'Journeys that clicked',
      converters: 'Journeys that converted',
    }).map(([member, name]) =>
      rowOf(name, async (range) => ({
        count: await countOf(subject, FUNNEL, member, range, ofCampaign),
      })),
    ),
    rowOf('Conversions', async (range) => {
      // Those that servers report have no traffic class.
      const rows = await load('conversions', {
        ...{ measures: ['value'], dimensions: ['currency', 'traffic_class'], range, filters: ofCampaign },
      });
      return {
        count: await countOf(subject, 'conversions', 'count_people', range, ofCampaign),
        money: sumsBy(
          rows.filter(({ traffic_class: traffic }) => traffic === null || traffic === 'human'),
          (row) => Number(row.value),
        ),
      };
    }),
    ...Object.entries({
      generated: 'Links made',
      revealed: 'Links opened (spent)',
      cancelled: 'Links cancelled',
      expired: 'Links expired',
    }).map(([state, name]) =>
      rowOf(name, async (range) => {
        const filters = [...ofCampaign, equals('state', state)];
        const worth = await load('reward_links', {
          ...{ measures: ['count'], dimensions: ['currency', 'denomination'], range, filters },
        });
        return {
          count: await countOf(subject, 'reward_links', 'count', range, filters),
          money: sumsBy(worth, (row) => Number(row.count) * Number(row.denomination)),
        };
      }),
    ),
    rowOf('Links outstanding', async ([, to]) => {
      const states = await load('reward_links', {
        measures: ['count'],
        dimensions: ['state', 'currency', 'denomination'],
        range: ['2010-01-01', to],
        filters: ofCampaign,
      });
      const countOfRow = (row: Row) => (row.state === 'generated' ? 1 : -1) * Number(row.count);
      return {
        count: sum(states.map(countOfRow)),
        money: sumsBy(states, (row) => countOfRow(row) * Number(row.denomination)),
      };
    }),
  ]);
  const opened = [...ofCampaign, equals('state', 'revealed')];
  const [conversions, openedLinks, values] = await Promise.all([
    countOf(subject, 'conversions', 'count_people', now, ofCampaign),
    countOf(subject, 'reward_links', 'count', now, opened),
    load('reward_links', {
      ...{ measures: ['count'], dimensions: ['currency', 'denomination'], range: now, filters: opened },
    }),
  ]);
  // With several currencies, no count belongs to each amount.
  const isOneCurrency = new Set(values.map(({ currency }) => currency)).size === 1;
  const spent = [conversions, isOneCurrency ? openedLinks : 0].map((count) =>
    count > 0 && openedLinks > 0
      ? moneyOf(sumsBy(values, (row) => (Number(row.count) * Number(row.denomination)) / count))
      : undefined,
  );
  const isUnused = ([name, count, countBefore]: string[]) =>
    name!.startsWith('Links ') && count === '0' && countBefore === '0';
  const unused = rows.filter(isUnused).map(([name]) => name!.split(' ')[1]!);
  return {
    rows: rows.filter((row) => !isUnused(row)),
    unused: new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(unused),
    spent,
  };
}
const shownSteps = ({ tables, text }: Pick<Shown, 'tables' | 'text'>) => ({
  rows: tables['Results by step']?.rows,
  unused: text.match(/No (\w+(?:(?:, \w+)* or \w+)?) links in these dates/)?.[1] ?? '',
  spent: [/Spent per conversion: (.*?) \(/, /Spent per link opened: (.*?)\.(?!\d)/].map(
    (of) => text.match(of)?.[1],
  ),
});
async function checkSteps(page: Page, subject: Subject, path: string, ofCampaign: Filter[] = []) {
  await shows(page, `${path}?${dates(subject.now)}`, shownSteps, await stepsOf(subject, ofCampaign));
}
/** Adds up values by currency. */
function sumsBy(rows: Row[], valueOf: (row: Row) => number): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const row of rows)
    if (row.currency !== null) sums[row.currency!] = (sums[row.currency!] ?? 0) + valueOf(row);
  return sums;
}
const moneyOf = (sums: Record<string, number> = {}) => {
  const list = Object.entries(sums)
    .filter(([, amount]) => amount !== 0)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([currency, amount]) => {
      const minimumFractionDigits = Number.isInteger(Math.round(amount * 1_000) / 1_000) ? 0 : 2;
      return new Intl.NumberFormat('en-GB', { style: 'currency', currency, minimumFractionDigits }).format(
        amount,
      );
    });
  return list.length > 0 ? new Intl.ListFormat('en-GB').format(list) : '–';
};

type Total = Record<'journeys' | 'clickers' | 'journeysBefore' | 'clickersBefore', number>;

/** Compares the table "What changed" with the arithmetic of docs/figures.md. */
async function checkChanges(
  page: Page,
  subject: Subject,
  path: string,
  total: Total,
  filters: Filter[] = [],
  outcome: 'clickers' | 'converters' = 'clickers',
): Promise<void> {
  const { now, before, load } = subject;
  const table = ({ tables }: Shown) => sorted(tables['What changed']?.rows ?? []);
  const measures = ['journeys', 'gift_only_recipients', outcome];
  for (const [way, dimensions] of Object.entries({
    utm_source: ['utm_source'],
    utm_medium: ['utm_medium'],
    // A campaign is not broken down by campaigns.
    ...(filters.length === 0 && { campaign_name: ['campaign_id', 'campaign_name'] }),
    cmeta_plan: ['cmeta_plan'],
    perk: ['perk_id', 'perk_title'],
  })) {
    const [rows, rowsBefore] = await Promise.all(
      [now, before].map((range) => load(FUNNEL, { measures, dimensions, range, filters })),
    );
    const keyOf = (row: Row) => dimensions.map((name) => row[name]).join('\n');
    const parts = new Map<string, Total & { id: string | null; name: string | null }>();
    for (const [index, list] of [rows!, rowsBefore!].entries())
      for (const row of list) {
        const part = parts.get(keyOf(row)) ?? {
          ...{ journeys: 0, clickers: 0, journeysBefore: 0, clickersBefore: 0 },
          id: row[dimensions[0]!] as string | null,
          name: (row[dimensions.at(-1)!] ?? row[dimensions[0]!]) as string | null,
        };
        parts.set(keyOf(row), part);
        if (index === 0) Object.assign(part, countsOf(row, outcome, ''));
        else Object.assign(part, countsOf(row, outcome, 'Before'));
      }
    const list = [...parts.values()].filter(
      ({ journeys, journeysBefore }) => way === 'perk' || journeys + journeysBefore > 0,
    );
    const isComparable = way === 'perk' ? total.journeys * total.journeysBefore : bothOf(list);
    const expected = !isComparable
      ? []
      : way === 'perk'
        ? list
            .filter(({ id }) => id !== null)
            .map(({ name, clickers, clickersBefore }) => [
              name!,
              number(clickers),
              number(clickersBefore),
              share(clickers, total.journeys),
              share(clickersBefore, total.journeysBefore),
              points(clickers / total.journeys - clickersBefore / total.journeysBefore),
            ])
        : list.map((part) => [
            part.name ?? noPart(way),
            number(part.journeys),
            number(part.journeysBefore),
            share(part.clickers, part.journeys),
            share(part.clickersBefore, part.journeysBefore),
            contributionOf(part, list),
          ]);
    const all = way === 'perk' ? total : totalsOf(list);
    const [count, countBefore] =
      way === 'perk' ? [all.clickers, all.clickersBefore] : [all.journeys, all.journeysBefore];
    if (expected.length > 0)
      expected.push([
        way === 'perk' ? 'Any perk' : 'All',
        number(count),
        number(countBefore),
        share(all.clickers, all.journeys),
        share(all.clickersBefore, all.journeysBefore),
        points(all.clickers / all.journeys - all.clickersBefore / all.journeysBefore),
      ]);
    await shows(page, `${path}?${dates(now)}&by=${way}&of=${outcome}`, table, sorted(expected));
  }
}
const countsOf = (row: Row, outcome: string, suffix: '' | 'Before') => ({
  [`journeys${suffix}`]: Number(row.journeys) - Number(row.gift_only_recipients),
  [`clickers${suffix}`]: Number(row[outcome]),
});
const totalsOf = (parts: Total[]) => ({
  journeys: sum(parts.map(({ journeys }) => journeys)),
  clickers: sum(parts.map(({ clickers }) => clickers)),
  journeysBefore: sum(parts.map(({ journeysBefore }) => journeysBefore)),
  clickersBefore: sum(parts.map(({ clickersBefore }) => clickersBefore)),
});
const bothOf = (parts: Total[]) => totalsOf(parts).journeys * totalsOf(parts).journeysBefore;
/** Returns the text of a contribution and of its two terms. */
function contributionOf(part: Total, parts: Total[]): string {
  const all = totalsOf(parts);
  const average = (all.clickers / all.journeys + all.clickersBefore / all.journeysBefore) / 2;
  const own = part.journeys > 0 ? part.clickers / part.journeys : part.clickersBefore / part.journeysBefore;
  const rateBefore = part.journeysBefore > 0 ? part.clickersBefore / part.journeysBefore : own;
  const [size, sizeBefore] = [part.journeys / all.journeys, part.journeysBefore / all.journeysBefore];
  const fromRate = ((own - rateBefore) * (size + sizeBefore)) / 2;
  const fromShare = (size - sizeBefore) * ((own + rateBefore) / 2 - average);
  // Rounded so that they add up as shown.
  const [whole, rate] = [fromRate + fromShare, fromRate].map(
    (each) => Math.sign(each) * Math.round(1_000 * Math.abs(each)),
  ) as [number, number];
  return `${points(fromRate + fromShare)} rate ${signed(rate / 10)}, share ${signed((whole - rate) / 10)}`;
}

/** Compares the clicks of each perk, which the Overview shows twice. */
async function checkClicks(page: Page, subject: Subject): Promise<void> {
  const { now, before, perks, campaigns } = subject;
  const viewsOf = async (cubes: string[], filter: Filter) =>
    sum(await Promise.all(cubes.map((cube) => countOf(subject, cube, 'count_people', now, [filter]))));
  const inCampaigns = ['teaser_views', 'reward_views'];
  const seen = await Promise.all(
    campaigns.slice(0, 3).map((id) => viewsOf(inCampaigns, equals('campaign_id', id))),
  );
  const clicksOf = (cube: string, perk: string, range: Range) =>
    countOf(subject, cube, 'count_people', range, [equals('perk_id', perk)]);
  const list = await Promise.all(
    perks.map(async (id, nth) => {
      const [ofCampaigns, ofCollections, campaignsBefore, collectionsBefore, views] = await Promise.all([
        clicksOf('incentive_clicks', id, now),
        clicksOf('perk_clicks', id, now),
        clicksOf('incentive_clicks', id, before),
        clicksOf('perk_clicks', id, before),
        viewsOf([...inCampaigns, 'perk_views'], equals('perk_id', id)),
      ]);
      const links = [
        ...(ofCampaigns > 0 ? [`${number(ofCampaigns)} in campaigns`] : []),
        ...(ofCollections > 0 ? [`${number(ofCollections)} in collections`] : []),
      ].join(', ');
      return {
        title: PERKS.find((perk) => perk.id === id)?.title ?? id,
        links,
        clicks: ofCampaigns + ofCollections,
        clicksBefore: campaignsBefore + collectionsBefore,
        views,
        isOffered: seen.some((count, campaign) => count > 0 && nth < 2 + campaign),
      };
    }),
  );
  const counts = list.filter(({ clicks, views, isOffered }) => clicks + views > 0 || isOffered);
  const [best, others] = mostAndOthers(counts.map(({ clicks }) => clicks));
  const isClicked = ({ clicks, clicksBefore }: (typeof list)[number]) => clicks + clicksBefore > 0;
  await shows(
    page,
    `/?${dates(now)}&by=clicks`,
    ({ tables, bars }) => ({
      // A perk that only bots clicked may be listed with 0.
      changed: sorted((tables['What changed']?.rows ?? []).filter((row) => row.slice(1).join() !== '0,0,0')),
      best: bars['Most clicked perks']?.map(({ value }) => value) ?? [],
      known: (bars['Most clicked perks'] ?? []).every(({ label, value, note }) =>
        list.some(
          ({ title, clicks, links }) => title === label && number(clicks) === value && links === note,
        ),
      ),
      least: bars['Least clicked perks']?.map(({ value }) => value) ?? [],
      isOnce: isDifferent(
        ['Most clicked perks', 'Least clicked perks'].flatMap(
          (name) => bars[name]?.map(({ label }) => label) ?? [],
        ),
      ),
      leastKnown: (bars['Least clicked perks'] ?? []).every(({ label, value, note }) =>
        counts.some(
          ({ title, clicks, links, views, isOffered }) =>
            title === label &&
            number(clicks) === value &&
            note ===
              [
                ...(views > 0 || isOffered ? [`${number(views)} ${views === 1 ? 'view' : 'views'}`] : []),
                ...(links ? [links] : []),
              ].join(', '),
        ),
      ),
    }),
    {
      changed: sorted(
        list
          .filter(isClicked)
          .map(({ title, links, clicks, clicksBefore }) => [
            title,
            links || '0',
            number(clicksBefore),
            signed(clicks - clicksBefore),
          ]),
      ),
      best,
      known: true,
      least: others,
      leastKnown: true,
      isOnce: true,
    },
  );
}

/** Compares the views and clicks of the perks of a collection in the last 30 days, and their order by clicks. */
async function checkPerks(page: Page, subject: Subject): Promise<void> {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: subject.zone }).format(new Date());
  const range = [addDays(today, -29), today] as const;
  const [collection] = subject.collections;
  const perks = await Promise.all(
    PERKS.map(async ({ id, title }) => {
      const count = (cube: string, filters: Filter[] = []) =>
        countOf(subject, cube, 'count_people', range, [equals('perk_id', id), ...filters]);
      const here = [equals('collection_id', collection!)];
      const [views, clicks, inCollections, inCampaigns] = await Promise.all([
        count('perk_views', here),
        count('perk_clicks', here),
        count('perk_clicks'),
        count('incentive_clicks'),
      ]);
      return { title, views, clicks, inCampaigns, all: inCollections + inCampaigns };
    }),
  );
  await shows(
    page,
    `/perks?collection=${collection}&view=table`,
    ({ tables }) => sorted(tables.Perks?.rows ?? []),
    sorted(
      perks.map(({ title, views, clicks, inCampaigns }) => [
        title,
        number(views),
        number(clicks),
        share(clicks, views),
        number(inCampaigns),
      ]),
    ),
  );
  await page.goto(`${stage.url}/perks?collection=${collection}&view=clicked`);
  const clicksOf = new Map(perks.map(({ title, all }) => [title, all]));
  let shown: (number | undefined)[] = [];
  await waitFor(async () => {
    const titles = await page.locator('.perk-grid h3').allInnerTexts();
    shown = titles.map((title) => clicksOf.get(title));
    return shown.length === PERKS.length;
  }, 'the perks by clicks');
  expect(shown).toEqual(perks.map(({ all }) => all).sort((one, other) => other - one));
}

const isDifferent = (names: string[]) => new Set(names).size === names.length;
/** The five highest counts above 0, and the five lowest of the others. */
function mostAndOthers(counts: number[]): [best: string[], others: string[]] {
  const ordered = counts.toSorted((one, other) => other - one);
  const best = ordered.slice(0, 5).filter((count) => count > 0);
  const others = ordered.slice(best.length).reverse().slice(0, 5);
  return [best, others].map((list) => list.map(number)) as [string[], string[]];
}

async function checkCampaigns(page: Page, subject: Subject): Promise<void> {
  const { now, before, campaigns, load } = subject;
  const named = campaigns.slice(0, 3);
  const rows = await Promise.all(
    named.map(async (id, nth) => {
      const filters = [equals('campaign_id', id)];
      const [journeys, journeysBefore, clickers, converters, clicks] = await Promise.all([
        countOf(subject, FUNNEL, 'journeys', now, filters),
        countOf(subject, FUNNEL, 'journeys', before, filters),
        countOf(subject, FUNNEL, 'clickers', now, filters),
        countOf(subject, FUNNEL, 'converters', now, filters),
        countOf(subject, 'incentive_clicks', 'count_people', now, filters),
      ]);
      const values = await Promise.all(
        [now, before].map(async (range) => {
          const rows = await load('conversions', {
            ...{ measures: ['value'], dimensions: ['currency', 'traffic_class'], range, filters },
          });
          return moneyOf(
            sumsBy(
              rows.filter(({ traffic_class: traffic }) => traffic === null || traffic === 'human'),
              ({ value }) => Number(value),
            ),
          );
        }),
      );
      const spent = await Promise.all(
        [now, before].map(async (range) => {
          const opened = [...filters, equals('state', 'revealed')];
          const rows = await load('reward_links', {
            ...{ measures: ['count'], dimensions: ['currency', 'denomination'], range, filters: opened },
          });
          return moneyOf(sumsBy(rows, ({ count, denomination }) => Number(count) * Number(denomination)));
        }),
      );
      const withBefore = ([sum, earlier]: string[]) => (earlier === '–' ? sum! : `${sum} ${earlier} before`);
      const of = (part: number) => `${number(part)} ${share(part, journeys, '')}`.trim();
      return [
        `Campaign ${nth + 1}`,
        `${nth + 2} perks`,
        journeysBefore === 0
          ? number(journeys)
          : `${number(journeys)} ${journeys > journeysBefore ? '+' : journeys < journeysBefore ? '−' : ''}${percent(Math.abs(journeys - journeysBefore) / journeysBefore)}`,
        of(clickers),
        of(converters),
        number(clicks),
        withBefore(spent),
        withBefore(values),
      ];
    }),
  );
  await shows(
    page,
    `/campaigns?${dates(now)}`,
    ({ tables: { Campaigns } }) =>
      sorted((Campaigns?.rows ?? []).map(([name, ...cells], at) => [name!, Campaigns!.notes[at]!, ...cells])),
    sorted(rows),
  );
}

const STEPS = {
  journeys: 'Any contact',
  teaser_viewers: 'Saw a teaser',
  reward_viewers: 'Saw a reward',
  clickers: 'Clicked',
  converters: 'Converted',
  gift_recipients: 'Got a reward link',
  gift_openers: 'Opened the gift card',
};

/** The funnel as its list reads. */
async function funnelOf(subject: Subject, range: Range, filters: Filter[]) {
  const compared = await comparedOf(subject, range, filters);
  const values = await Promise.all(
    Object.keys(STEPS).map((step) => countOf(subject, FUNNEL, step, range, filters)),
  );
  const [journeys, , , clickers, converters] = values as [number, number, number, number, number];
  const list = Object.values(STEPS).map(
    (name, index) =>
      `${name}: ${number(values[index]!)} ${journeys > 0 ? `${percent(values[index]! / journeys)} of journeys` : 'no journeys'}`,
  );
  return { list, journeys, compared, clickers, converters };
}

const FULL_BAR = /A full bar is (?:all |the )([\d,]+|one) journeys?/;
const fullBarOf = (journeys: number) =>
  journeys === 0 ? undefined : journeys === 1 ? 'one' : number(journeys);

async function checkCampaign(page: Page, subject: Subject): Promise<void> {
  const { now, before, load, random } = subject;
  const nth = Math.floor(random() * 3);
  const id = subject.campaigns[nth]!;
  const filters = [equals('campaign_id', id)];
  const count = (cube: string, measure: string, range: Range, more: Filter[] = []) =>
    countOf(subject, cube, measure, range, [...filters, ...more]);
  const [
    funnel,
    derived,
    tracked,
    made,
    madeWithoutJourney,
    links,
    recipients,
    comparedBefore,
    clickersBefore,
    convertersBefore,
  ] = await Promise.all([
    funnelOf(subject, now, filters),
    count(FUNNEL, 'events_without_journey', now),
    Promise.all(IN_CAMPAIGNS.map((cube) => count(cube, 'count_people', now))).then(sum),
    count('reward_links', 'count', now, [equals('state', 'generated')]),
    count('reward_links', 'count', now, [equals('state', 'generated'), equals('journey_id', null)]),
    count('reward_links', 'count', now),
    count(FUNNEL, 'gift_recipients', now),
    comparedOf(subject, before, filters),
    count(FUNNEL, 'clickers', before),
    count(FUNNEL, 'converters', before),
  ]);
  const { list, journeys, compared, clickers, converters } = funnel;
  const path = `/campaigns/${id}?${dates(now)}`;
  if (journeys + derived + links === 0)
    return shows(page, path, ({ text }) => text.includes('Nothing in these dates'), true);
  const journeysOf = (count: number) => `${number(count)} ${count === 1 ? 'journey' : 'journeys'}`;
  const linkText = `${number(madeWithoutJourney)} ${madeWithoutJourney === 1 ? 'link' : 'links'} (${share(madeWithoutJourney, made)})`;
  await shows(
    page,
    path,
    ({ lists, text }) => ({
      funnel: lists['From contact to gift card'],
      fullBar: text.match(FULL_BAR)?.[1],
      outcome: text.includes(
        journeys > 0 ? outcome(journeys, clickers, converters) : 'No journey in these dates',
      ),
      linkOnly: text.match(LINK_ONLY)?.[0],
      rates: readRates(text),
      without: text.includes(withoutJourney(derived, tracked)),
      linksWithout: madeWithoutJourney === 0 || text.includes(linkText),
      linksOf: text.match(/[\d,]+ links? (?:was|were) made for [\d,]+ journeys?\./)?.[0],
      anyContact: text.match(/Any contact includes the [\d,]+ journeys?/)?.[0],
    }),
    {
      funnel: list,
      fullBar: fullBarOf(journeys),
      outcome: true,
      linkOnly: await linkOnlyOf(subject, now, filters),
      rates: ratesOf(
        { compared, clickers, converters },
        { compared: comparedBefore, clickers: clickersBefore, converters: convertersBefore },
      ),
      without: true,
      linksWithout: true,
      linksOf:
        made > madeWithoutJourney
          ? `${number(made - madeWithoutJourney)} ${made - madeWithoutJourney === 1 ? 'link was' : 'links were'} made for ${journeysOf(recipients)}.`
          : undefined,
      anyContact: recipients > 0 ? `Any contact includes the ${journeysOf(recipients)}` : undefined,
    },
  );
  for (const [show, name, cubes] of [
    ['clicks', 'Clicks', ['incentive_clicks']],
    ['views', 'Views', ['teaser_views', 'reward_views']],
    ['conversions', 'Conversions', ['conversions']],
  ] as const)
    await shows(
      page,
      `${path}&show=${show}`,
      ({ tables }) => tables[`Campaign ${nth + 1}: ${name}`]?.rows,
      await chartRows(subject, [...cubes], filters),
    );

  const campaignPath = `/campaigns/${id}`;
  await checkSteps(page, subject, campaignPath, filters);
  await checkChanges(
    page,
    subject,
    campaignPath,
    { journeys: compared, clickers, journeysBefore: comparedBefore, clickersBefore },
    filters,
  );
  await page.goto(stage.url + path);

  const valuesBy = async (dimension: string) => {
    const rows = await load('conversions', {
      ...{ measures: ['value'], dimensions: [dimension, 'currency', 'traffic_class'], range: now, filters },
    });
    return (key: string | null) =>
      moneyOf(
        sumsBy(
          rows.filter(
            (row) => row[dimension] === key && (row.traffic_class === null || row.traffic_class === 'human'),
          ),
          (row) => Number(row.value),
        ),
      );
  };
  const [valueOfPerk, valueOfSource] = [await valuesBy('perk_id'), await valuesBy('utm_source')];
  const perks = await Promise.all(
    subject.perks.map(async (perk, index) => {
      const ofPerk = [equals('perk_id', perk)];
      const [teasers, rewards, own, ownBefore, all, ownClickers, ownConverters] = await Promise.all([
        count('teaser_views', 'count_people', now, ofPerk),
        count('reward_views', 'count_people', now, ofPerk),
        count('incentive_clicks', 'count_people', now, ofPerk),
        count('incentive_clicks', 'count_people', before, ofPerk),
        count('incentive_clicks', 'count', now, ofPerk),
        count(FUNNEL, 'clickers', now, ofPerk),
        count(FUNNEL, 'converters', now, ofPerk),
      ]);
      const row = [
        PERKS[index]?.title ?? perk,
        number(teasers + rewards),
        withBefore(all === own ? number(own) : `${number(own)} ${number(all)} with bots`, own, ownBefore),
        `${share(ownClickers, compared)} ${number(ownClickers)} of ${number(compared)}`,
        `${share(ownConverters, compared)} ${number(ownConverters)} of ${number(compared)}`,
        valueOfPerk(perk),
      ];
      return index < nth + 2 ||
        teasers + rewards + all + ownBefore + ownClickers + ownConverters > 0 ||
        row.at(-1) !== '–'
        ? [row]
        : [];
    }),
  );
  const measures = ['journeys', 'gift_only_recipients', 'clickers', 'converters'];
  const [sources, sourcesBefore] = await Promise.all(
    [now, before].map((range) => load(FUNNEL, { measures, dimensions: ['utm_source'], range, filters })),
  );
  const names = new Set([...sources!, ...sourcesBefore!].map((row) => row.utm_source));
  const bySource = [...names].map((name) => {
    const of = (rows: Row[], measure: string) =>
      Number(rows.find(({ utm_source }) => utm_source === name)?.[measure] ?? 0);
    const all = of(sources!, 'journeys') - of(sources!, 'gift_only_recipients');
    const [clicked, converted] = [of(sources!, 'clickers'), of(sources!, 'converters')];
    return [
      String(name ?? noPart('utm_source')),
      number(all),
      withBefore(number(clicked), clicked, of(sourcesBefore!, 'clickers')),
      share(clicked, all),
      number(converted),
      share(converted, all),
      valueOfSource(name as string | null),
    ];
  });
  await keepsShowing(
    page,
    path,
    ({ tables }) => ({
      // A perk that only bots saw may be listed, too.
      perks: sorted((tables['By perk']?.rows ?? []).filter((row) => !isOnlySeenByBots(row, perks.flat()))),
      sources: sorted(tables['By source']?.rows ?? []),
    }),
    { perks: sorted(perks.flat()), sources: sorted(bySource) },
  );
  await checkReport(page, subject, id);
}
const isOnlySeenByBots = (row: string[], expected: string[][]) =>
  row.slice(1, 3).join() === '0,0' && !expected.some(([title]) => title === row[0]);

const CHARTS = ['Clicks', 'Views', 'Conversions'];

/** Freezes a report, whose days are in UTC, and reads it. */
async function checkReport(page: Page, subject: Subject, campaignId: string): Promise<void> {
  const { now: range } = subject;
  const body = JSON.stringify({
    campaignId,
    range: { from: range[0], to: range[1] },
    title: 'Every figure',
    expiresAt: new Date(Date.now() + DAY_MS).toISOString(),
  });
  const { url } = await page.evaluate<{ url: string }>(
    `fetch('/api/reports', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)} }).then((response) => response.json())`,
  );
  const ofUtc = { ...subject, load: readerOf(subject.key, 'UTC') };
  const filters = [equals('campaign_id', campaignId)];
  const [{ list, ...outcomes }, before] = await Promise.all([
    funnelOf(ofUtc, range, filters),
    funnelOf(ofUtc, subject.before, filters),
  ]);
  const { journeys, compared, clickers, converters } = outcomes;
  const [days, daysBefore] = (await Promise.all(
    [range, subject.before].map((dates) =>
      Promise.all(
        [['incentive_clicks'], ['teaser_views', 'reward_views'], ['conversions']].map(async (cubes) => {
          const each = await Promise.all(cubes.map((cube) => byDay(ofUtc, cube, dates, filters)));
          return daysIn(dates).map((_, day) => sum(each.map((values) => values[day]!)));
        }),
      ),
    ),
  )) as [number[][], number[][]];
  const read = async (dimension: string) => {
    const outcomes = ['journeys', 'gift_only_recipients', 'clickers', 'converters'];
    const load = (cube: string, measures: string[]) =>
      ofUtc.load(cube, { measures, dimensions: [dimension], range, filters });
    const [clicks, funnels, funnelsBefore] = await Promise.all([
      load('incentive_clicks', ['count', 'count_people']),
      load(FUNNEL, outcomes),
      ofUtc.load(FUNNEL, {
        ...{ measures: ['journeys'], dimensions: [dimension], range: subject.before, filters },
      }),
    ]);
    const names = new Set(
      [...clicks, ...funnels, ...funnelsBefore].map((row) => row[dimension] as string | null),
    );
    return [...names].map((name) => {
      const of = (rows: Row[]): Row => rows.find((row) => row[dimension] === name) ?? {};
      const [clicked, outcome] = [of(clicks), of(funnels)];
      const [all, people] = [Number(clicked.count ?? 0), Number(clicked.count_people ?? 0)];
      const [own, linkOnly, clickers, converters] = outcomes.map((measure) =>
        Number(outcome[measure] ?? 0),
      ) as [number, number, number, number];
      return { name, all, people, journeys: own - linkOnly, clickers, converters };
    });
  };
  const [byPerk, bySource, steps] = await Promise.all([
    read('perk_id'),
    read('utm_source'),
    stepsOf(ofUtc, filters),
  ]);
  await page.goto('about:blank');
  await page.goto(url);
  await keepsShowing(
    page,
    url.split('#')[0]!,
    ({ lists, tables, text }) => ({
      steps: shownSteps({ tables, text }),
      outcome: text.includes(
        journeys > 0
          ? outcome(journeys, clickers, converters)
          : 'Nothing was tracked for this campaign in these dates.',
      ),
      linkOnly: text.match(LINK_ONLY)?.[0],
      rates: readRates(text),
      funnel: lists['From contact to gift card'],
      fullBar: text.match(FULL_BAR)?.[1],
      days: CHARTS.map((name) => tables[`${name} by day`]?.rows),
      perks: sorted((tables['By perk']?.rows ?? []).filter((row) => row[2] !== '0')),
      sources: sorted(tables['By source']?.rows ?? []),
    }),
    {
      steps,
      outcome: true,
      linkOnly: await linkOnlyOf(ofUtc, range, filters),
      rates: ratesOf(outcomes, before),
      funnel: list,
      fullBar: fullBarOf(journeys),
      days: days.map((values, chart) =>
        daysIn(range)
          .map((day, index) => [
            longDay(day),
            number(values[index]!),
            // The month before can have fewer days.
            daysBefore[chart]![index] === undefined ? '–' : number(daysBefore[chart]![index]),
          ])
          .reverse(),
      ),
      perks: sorted(
        byPerk
          .filter(({ name, all }) => name !== null && all > 0)
          .map(({ name, all, people, clickers: clicked, converters: converted }) => [
            PERKS.find(({ id }) => id === name)?.title ?? name!,
            number(people),
            number(all),
            share(clicked, compared),
            share(converted, compared),
          ]),
      ),
      sources: sorted(
        bySource.map((one) => [
          one.name ?? `${noPart('utm_source')} Journeys without utm_source`,
          number(one.people),
          number(one.all),
          number(one.journeys),
          share(one.clickers, one.journeys),
          share(one.converters, one.journeys),
        ]),
      ),
    },
  );
}

const CUBES: Record<string, { measures: string[]; dimensions: string[] }> = {
  perk_views: {
    measures: ['count', 'count_people'],
    dimensions: ['perk_title', 'collection_id', 'utm_source'],
  },
  perk_clicks: {
    measures: ['count', 'count_people', 'journeys'],
    dimensions: ['perk_id', 'traffic_class', 'utm_medium'],
  },
  teaser_views: {
    measures: ['count', 'count_people', 'journeys'],
    dimensions: ['campaign_name', 'channel', 'cmeta_plan'],
  },
  reward_views: {
    measures: ['count', 'count_people', 'journeys'],
    dimensions: ['perk_title', 'channel', 'utm_source'],
  },
  incentive_clicks: {
    measures: ['count', 'count_people', 'journeys'],
    dimensions: ['perk_title', 'campaign_id', 'traffic_reason'],
  },
  conversions: {
    measures: ['count', 'count_people', 'journeys'],
    dimensions: ['perk_title', 'currency', 'campaign_name'],
  },
  reward_links: { measures: ['count', 'journeys'], dimensions: ['state', 'denomination', 'created_by'] },
  campaign_funnel: {
    measures: [
      ...['journeys', 'teaser_viewers', 'reward_viewers', 'clickers', 'converters', 'gift_recipients'],
      ...['gift_openers', 'gift_only_recipients', 'click_rate', 'journey_conversion_rate', 'conversion_rate'],
      'events_without_journey',
    ],
    dimensions: ['campaign_name', 'utm_source', 'utm_medium'],
  },
};
const SHOWN_BARS = 12;
const SHOWN_LINES = 5;
const TITLES: Record<string, string> = {
  'reward_links.count': 'Links',
  ...Object.fromEntries(
    Object.entries({
      ...{ perk_views: 'views', teaser_views: 'views', reward_views: 'views' },
      ...{ perk_clicks: 'clicks', incentive_clicks: 'clicks', conversions: 'conversions' },
    }).flatMap(([cube, name]) => [
      [`${cube}.count`, `All ${name}`],
      [`${cube}.count_people`, `${name[0]!.toUpperCase()}${name.slice(1)}`],
    ]),
  ),
  click_rate: 'Clicked / journeys',
  journey_conversion_rate: 'Converted / journeys',
  conversion_rate: 'Converted / clicked',
  gift_only_recipients: 'Got only a reward link',
  ...STEPS,
  journeys: 'Journeys',
  events_without_journey: 'Events without a journey id',
};
const VALUES: Record<string, Record<string, string>> = {
  state: { generated: 'Made', revealed: 'Opened', cancelled: 'Cancelled', expired: 'Expired' },
  channel: { outreach: 'Messages', journey: 'Your app or site' },
  traffic_class: { human: 'People', bot: 'Bots', prefetch: 'Prefetches', mail_proxy: 'Mail proxies' },
};
const NO_VALUES: Record<string, string> = {
  utm_source: 'No source',
  utm_medium: 'No medium',
  cmeta_plan: 'No plan',
};
const titleOf = (cube: string, member: string) =>
  TITLES[`${cube}.${member}`] ??
  TITLES[member] ??
  member.replaceAll('_', ' ').replace(/(^|\s)\w/g, (letter) => letter.toUpperCase());

/** The table of Explore, without the number of days of weeks and months that are only in part in the dates. */
const withoutParts = ({ Table }: Shown['tables']) =>
  sorted(
    (Table?.rows ?? []).map(([step, ...cells]) => [step!.replace(/ \(\d+ of \d+ days\)$/, ''), ...cells]),
  );

/** Compares each cube with all measures: without a step, with one, and with both a step and a dimension. */
async function checkExplore(page: Page, subject: Subject): Promise<void> {
  const { now, before, random, load } = subject;
  for (const [cube, { measures, dimensions }] of Object.entries(CUBES)) {
    const dimension = pick(dimensions, random);
    const step = pick(['day', 'week', 'month'] as const, random);
    const valueOf = (row: Row | undefined, measure: string) => {
      const value = row?.[measure] ?? null;
      // A rate of nothing is not 0.
      if (measure.endsWith('_rate')) return value === null ? '–' : percent(Number(value));
      return number(Number(value));
    };
    const cells = (row: Row) => measures.map((measure) => valueOf(row, measure));
    /** A value, and that of the period before with the change of a count. */
    const compared = (measure: string, row: Row | undefined, earlier: Row | undefined) => {
      const [count, countBefore] = [Number(row?.[measure] ?? 0), Number(earlier?.[measure] ?? 0)];
      const text = `${valueOf(row, measure)} ${valueOf(earlier, measure)} before`;
      if (measure.endsWith('_rate') || countBefore <= 0) return text;
      const sign = count > countBefore ? '+' : count < countBefore ? '−' : '';
      return `${text}, ${sign}${percent(Math.abs(count - countBefore) / countBefore)}`;
    };
    const address = `/explore?cube=${cube}&${dates(now)}&measures=${measures.join()}`;

    const [[whole], [wholeBefore], rows, rowsBefore] = await Promise.all([
      load(cube, { measures, range: now }),
      load(cube, { measures, range: before }),
      load(cube, { measures, dimensions: [dimension], range: now }),
      load(cube, { measures, dimensions: [dimension], range: before }),
    ]);
    const earlierOf = (row: Row) => rowsBefore.find((one) => one[dimension] === row[dimension]);
    const nameOf = (row: Row) => {
      const value = row[dimension] ?? NO_VALUES[dimension] ?? '(none)';
      return VALUES[dimension]?.[value] ?? String(value);
    };
    await shows(
      page,
      `${address}&dimensions=${dimension}&steps=none`,
      ({ tables, bars, facts }) => ({
        facts,
        table: sorted(tables.Table?.rows ?? []),
        bars: measures
          .flatMap((measure) =>
            (bars[titleOf(cube, measure)] ?? []).map(({ label, value }) =>
              [measure, label, value].join(' | '),
            ),
          )
          .sort(),
      }),
      {
        facts: Object.fromEntries(
          measures.map((measure) => [titleOf(cube, measure), compared(measure, whole, wholeBefore)]),
        ),
        table: sorted(
          rows.map((row) => [
            nameOf(row),
            ...measures.map((measure) => compared(measure, row, earlierOf(row))),
          ]),
        ),
        bars: measures
          .flatMap((measure) =>
            rows.slice(0, SHOWN_BARS).map((row) => [measure, nameOf(row), valueOf(row, measure)].join(' | ')),
          )
          .sort(),
      },
    );

    const steps = await load(cube, { measures, range: now, granularity: step });
    const dayOf = (row: Row) => String(row[`occurred_at.${step}`]).slice(0, 10);
    await shows(
      page,
      `${address}&steps=${step}`,
      ({ tables }) => ({
        table: withoutParts(tables),
        // One chart for counts and one for rates.
        chart: measures.flatMap((measure) => columnOf(tables, titleOf(cube, measure))),
      }),
      {
        // Also for days, weeks and months without events.
        table: sorted(
          (steps.length === 0 ? [] : stepsIn(now, step)).map((day) => [
            day,
            ...cells(steps.find((row) => dayOf(row) === day) ?? {}),
          ]),
        ),
        // Without any row, a sentence says so in place of the chart.
        chart: (steps.length === 0 ? [] : measures).flatMap((measure) =>
          stepsIn(now, step)
            .map((day) =>
              valueOf(
                steps.find((row) => dayOf(row) === day),
                measure,
              ),
            )
            .reverse(),
        ),
      },
    );

    const lines = await load(cube, { measures, dimensions: [dimension], range: now, granularity: step });
    const total = (name: string) =>
      sum(lines.filter((row) => nameOf(row) === name).map((row) => Number(row[measures[0]!])));
    const largest = [...new Set(lines.map(nameOf))]
      .map(total)
      .sort((one, other) => other - one)
      .slice(0, SHOWN_LINES);
    await shows(
      page,
      `${address}&dimensions=${dimension}&steps=${step}`,
      ({ tables }) => ({
        table: withoutParts(tables),
        lines: measures.map((measure) => {
          const chart = tables[titleOf(cube, measure)];
          const names = chart?.head.slice(1) ?? [];
          return {
            totals: names.map(total),
            isRight: names.every((name, index) =>
              isDeepStrictEqual(
                chart!.rows.map((row) => row[index + 1]),
                stepsIn(now, step)
                  .map((day) =>
                    valueOf(
                      lines.find((row) => nameOf(row) === name && dayOf(row) === day),
                      measure,
                    ),
                  )
                  .reverse(),
              ),
            ),
          };
        }),
      }),
      {
        table: sorted(lines.map((row) => [dayOf(row), nameOf(row), ...cells(row)])),
        lines: measures.map(() => ({ totals: largest, isRight: true })),
      },
    );
  }
}

/** Compares the value of conversions with one total per currency, although the question names no currency. */
async function checkValue(page: Page, { now, before, load }: Subject): Promise<void> {
  const question = { measures: ['value'], dimensions: ['currency'] };
  const [rows, rowsBefore] = await Promise.all(
    [now, before].map((range) => load('conversions', { ...question, range })),
  );
  const valueIn = (of: Row[], currency: string) =>
    Number(of.find((row) => row.currency === currency)?.value ?? 0);
  const currencies = [...new Set([...rows!, ...rowsBefore!].flatMap(({ currency }) => currency ?? []))];
  await shows(
    page,
    `/explore?cube=conversions&${dates(now)}&measures=value&steps=none`,
    ({ facts }) => Object.entries(facts).map(([name, text]) => `${name}: ${text.replace(/ before.*/, '')}`),
    currencies.sort().map((currency) => {
      const [value, valueBefore] = [rows!, rowsBefore!].map((of) => number(valueIn(of, String(currency))));
      return `${currencies.length > 1 ? `Value (${currency})` : 'Value'}: ${value} ${valueBefore}`;
    }),
  );
}

/** The values of a measure in the chart that has it. */
function columnOf(tables: Shown['tables'], title: string): string[] {
  for (const [caption, { head, rows }] of Object.entries(tables)) {
    const index = head.indexOf(title);
    if (caption !== 'Table' && index > 0) return rows.map((row) => row[index]!);
  }
  return [];
}
/** The first days of the steps in a range; weeks begin on Monday. */
const stepsIn = (range: Range, step: 'day' | 'week' | 'month') => [
  ...new Set(
    daysIn(range).map((day) =>
      step === 'day'
        ? day
        : step === 'month'
          ? `${day.slice(0, 7)}-01`
          : addDays(day, -((new Date(day).getUTCDay() + 6) % 7)),
    ),
  ),
];

/** Compares the totals with rows of the store, so that the query host is not its own witness. */
async function checkRows(subject: Subject): Promise<void> {
  const { account, zone, now } = subject;
  const [rows] = await stage.fleet.database.query(
    `select
       count(*) filter (where type = 'incentive_click' and is_person)::integer as clicks,
       coalesce(sum(cardinality(perk_ids)) filter (where type = 'perk_view' and is_person), 0)::integer as views,
       count(*) filter (where state = 'revealed')::integer as revealed,
       count(distinct journey_id) filter (where is_person and not is_derived and type = 'incentive_click')::integer as clickers,
       count(distinct journey_id) filter (
         where is_person and not is_derived and (campaign_id is not null or state is not null) and type <> 'perk_click'
           and (state is null or state in ('generated', 'revealed')))::integer as journeys
     from (
       select *, coalesce(traffic_class, 'human') = 'human' as is_person, coalesce(journey_id like 'c-%', false) as is_derived
       from analytics.tracking_events
       where account_id = $1 and (occurred_at at time zone $2)::date between $3 and $4
     ) as events`,
    [account, zone, now[0], now[1]],
  );
  expect({
    clicks: await countOf(subject, 'incentive_clicks', 'count_people', now),
    views: await countOf(subject, 'perk_views', 'count_people', now),
    revealed: await countOf(subject, 'reward_links', 'count', now, [equals('state', 'revealed')]),
    clickers: await countOf(subject, FUNNEL, 'clickers', now),
    journeys: await countOf(subject, FUNNEL, 'journeys', now),
  }).toEqual({ ...rows });
}

it.each(SEEDS)(
  'shows the figures of the query host on every screen, seed %i',
  async (seed) => {
    const subject = await aSubject(seed);
    const context: BrowserContext = await stage.window({ timezoneId: subject.zone });
    try {
      await checkRows(subject);
      const page = await stage.signIn(context, subject.key);
      await checkOverview(page, subject);
      await checkPerks(page, subject);
      await checkCampaigns(page, subject);
      await checkCampaign(page, subject);
      await checkExplore(page, subject);
      await checkValue(page, subject);
    } finally {
      await context.close();
    }
  },
  1_200_000,
);

it('shows what became of the links of each job', async () => {
  const { account, key } = await stage.fleet.anAccount();
  const gifts = stage.fleet.admin('gift-cards');
  const pool = randomUUID();
  await gifts.put(`/admin/pools/${pool}`).send({ owner: account }).expect(200);
  const cards = Array.from(
    { length: 16 },
    (_, nth) => `${randomUUID()},,${nth < 12 ? '25,EUR,FR' : '10,GBP,GB'}`,
  );
  await gifts
    .post(`/admin/pools/${pool}/cards`)
    .set('content-type', 'text/csv')
    .send(['code,pin,denomination,currency,country', ...cards].join('\n'))
    .expect(200);
  const context = await stage.window();
  try {
    const page = await stage.signIn(context, key, '/gift-cards');
    const start = (job: object) =>
      page.evaluate(
        `fetch('/api/link-jobs', { method: 'POST', headers: { 'content-type': 'application/json', 'idempotency-key': '${randomUUID()}' }, body: ${JSON.stringify(JSON.stringify({ poolId: pool, ...job }))} })`,
      );
    await start({ name: 'Spring mailing', denomination: 25, currency: 'EUR', count: 7 });
    await start({ denomination: 25, currency: 'EUR', count: 5 });
    await start({ name: 'Autumn mailing', denomination: 10, currency: 'GBP', count: 4 });
    const linksOf = (name: string | null) =>
      stage.fleet.database.query<{ link_id: string }>(
        `select r.link_id from console.link_job_rows r join console.link_jobs j on j.id = r.job_id
         where j.account_id = $1 and j.name is not distinct from $2 and r.link_id is not null order by r.row`,
        [account, name],
      );
    await waitFor(
      async () =>
        (await Promise.all(['Spring mailing', 'Autumn mailing', null].map(linksOf))).flat().length === 16,
      'the links to be made',
      60_000,
    );
    const [spring, autumn] = [await linksOf('Spring mailing'), await linksOf('Autumn mailing')];
    const own = http({ url: stage.fleet.urls['gift-cards']! }, { key });
    for (const { link_id: id } of [...spring.slice(0, 2), autumn[0]!])
      await own.post(`/reward-links/${id}/cancel`).expect(200);
    await stage.fleet.database.query(
      'update gift_cards.reward_links set revealed_at = now() where id = any($1)',
      [[spring[2]!, spring[3]!, spring[4]!, autumn[1]!].map(({ link_id: id }) => id)],
    );
    await stage.fleet.database.query(
      `update gift_cards.reward_links set expires_at = now() - interval '1 minute' where id = $1`,
      [spring[5]!.link_id],
    );
    const table = ({ tables }: Shown) =>
      tables['Results of link jobs']?.rows.map((row) => row.toSpliced(1, 1));
    // A job has the same title in both lists.
    await stage.goto(page, '/gift-cards');
    const titles = await page.locator('#link-jobs li .card-head a').allInnerTexts();
    expect(titles).toEqual(['Autumn mailing', expect.stringMatching(/^€25 each, begun /), 'Spring mailing']);
    const [, unnamed] = titles;
    await shows(page, '/gift-cards', table, [
      ['Autumn mailing', '4', '£40', '2 £20', '1 £10', '1 £10', '0', '25%'],
      [unnamed!, '5', '€125', '5 €125', '0', '0', '0', '0%'],
      ['Spring mailing', '7', '€175', '1 €25', '3 €75', '2 €50', '1 €25', '42.9%'],
      ['All', '16', '€300 and £40', '8 €150 and £20', '4 €75 and £10', '3 €50 and £10', '1 €25', '25%'],
    ]);
    await page
      .getByRole('table', { name: 'Results of link jobs' })
      .getByRole('button', { name: 'Opened', exact: true })
      .click();
    await keepsShowing(page, '/gift-cards?jobs=-Opened', (shown) => table(shown)?.map(([name]) => name), [
      'Spring mailing',
      'Autumn mailing',
      unnamed,
      'All',
    ]);
  } finally {
    await context.close();
  }
}, 120_000);

it("shows the stored events of each account on the operators' home", async () => {
  const context = await stage.window();
  try {
    const page = await stage.signIn(context, ADMIN_KEY, '/home');
    await waitFor(
      async () => {
        await page.reload();
        await page.getByRole('table', { name: 'Traffic' }).waitFor();
        const { tables } = await readScreen(page);
        // Weeks of whole hours, the current one included. Days without it.
        const rows = await stage.fleet.database.query<
          Record<string, number> & { account_id: string; last: Date }
        >(
          `with hours as (select date_trunc('hour', now()) as hour),
           aged as (
             select account_id, occurred_at, occurred_at >= hour - interval '7 days' + interval '1 hour' as is_week,
               hour - occurred_at as age
             from analytics.tracking_events, hours
             where occurred_at >= hour - interval '14 days' + interval '1 hour' and occurred_at < hour + interval '1 hour'
           )
           select account_id,
             count(*) filter (where age > interval '0' and age <= interval '1 day')::integer as day,
             count(*) filter (where age > interval '1 day' and age <= interval '2 days')::integer as "dayBefore",
             count(*) filter (where is_week)::integer as week,
             count(*) filter (where not is_week)::integer as "weekBefore", max(occurred_at) as last
           from aged group by account_id`,
        );
        // In the row of each account, because its text is rounded.
        const lastEvents = await page.evaluate<Record<string, string>>(
          `Object.fromEntries([...document.querySelectorAll('#traffic tbody tr:has(time)')].map((row) =>
             [row.querySelector('a').textContent, row.querySelector('time').dateTime]))`,
        );
        expect(lastEvents).toEqual(
          Object.fromEntries(
            rows.map(({ account_id, last }) => [`Name of ${account_id}`, last.toISOString()]),
          ),
        );
        const shown = tables.Traffic!.rows.map(([name, day, dayBefore, , week, weekBefore]) => [
          ...[name!, day!, dayBefore!, week!, weekBefore!],
        ]);
        const expected = rows.map(({ account_id, day, dayBefore, week, weekBefore }) => [
          `Name of ${account_id}`,
          ...[day!, dayBefore!, week!, weekBefore!].map((count) => number(count)),
        ]);
        expect(expected.length).toBeGreaterThan(SEEDS.length);
        expect(sorted(shown.filter(([, , , week, weekBefore]) => `${week}${weekBefore}` !== '00'))).toEqual(
          sorted(expected),
        );
      },
      'the same counts as the rows',
      20_000,
    );
  } finally {
    await context.close();
  }
}, 120_000);
