import { Injectable } from '@nestjs/common';
import type { AnswerOf, Documents, InputOf, Perkway } from '@perkway/client';
import { ApiError } from '@perkway/domain';
import { rangeBefore } from '@perkway/domain/day-range';
import {
  CONVERSION_MEMBERS,
  conversionAmount,
  FIRST_DAY,
  LINK_MEMBERS,
  linkAmounts,
  type Amount,
  type Money,
} from '@perkway/domain/step-amounts';
import { responseOf, FleetClients } from '../fleet/fleet-clients.js';
import type { Session } from '../sessions/session.js';
import { FUNNEL, type FrozenReportDto, type StepDto } from './report.dto.js';

type Cells = Record<string, unknown>;
type Figures = Pick<
  FrozenReportDto,
  'funnel' | 'range_before' | 'steps' | 'by_day' | 'by_day_before' | 'by_perk' | 'by_source'
>;
type Campaign = AnswerOf<Documents['boost']['getCampaign']>;
type Query = InputOf<Documents['analytics']['loadByPost']>['query'];
interface Members {
  measures: string[];
  dimensions?: string[];
  segments?: string[];
}
interface Range {
  from: string;
  to: string;
}

/** The cubes of a campaign, and the names of their figures in a report. */
const BY_DAY = {
  teaser_views: 'teaser_views',
  reward_views: 'reward_views',
  incentive_clicks: 'clicks',
  conversions: 'conversions',
} as const;
const CUBES = Object.entries(BY_DAY);
const COUNTS = ['count', 'count_people'];
const CLICKS = { clicks: 'count', clicks_people: 'count_people' };
const MAX_ROWS = 10_000;
const DAY_MS = 86_400_000;
/** Measures of the funnel that are also among the `steps` of a report. */
const JOURNEY_STEPS = ['journeys', 'clickers', 'converters', 'gift_only_recipients'] as const;
/** Long enough for a year of a busy campaign. */
const TIMEOUT_MS = 10 * 60_000;

/** Reads the current figures of a campaign: counts and amounts, also by day, perk and source, but no journey ids. */
@Injectable()
export class CampaignFigures {
  constructor(private readonly clients: FleetClients) {}

  /** @throws CAMPAIGN_NOT_FOUND */
  async campaignOf(session: Session, campaignId: string): Promise<Campaign> {
    try {
      return await responseOf('boost', this.clients.of(session).boost.getCampaign({ campaignId }));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') throw new ApiError('CAMPAIGN_NOT_FOUND');
      throw error;
    }
  }

  async read(session: Session, campaign: Campaign, range: Range): Promise<Figures> {
    const campaignId = campaign.id;
    const perkway = this.clients.withKey(session.key, { timeoutMs: TIMEOUT_MS });
    const loadIn = ({ from, to }: Range, cube: string, members: Members, time: object = {}) =>
      rowsOf(perkway, {
        ...members,
        filters: [{ member: `${cube}.campaign_id`, operator: 'equals', values: [campaignId] }],
        timeDimensions: [{ dimension: `${cube}.occurred_at`, dateRange: [from, to], ...time }],
        limit: MAX_ROWS,
      });
    const load = (
      cube: string,
      measures: readonly string[],
      dimensions: string[] = [],
      dates = range,
      time: object = {},
    ) => {
      const named = (names: readonly string[]) => names.map((name) => `${cube}.${name}`);
      return loadIn(dates, cube, { measures: named(measures), dimensions: named(dimensions) }, time);
    };
    const [from, to] = rangeBefore([range.from, range.to]);
    const before = { from, to };
    const outcomesBy = (dimensions: string[], measures: readonly string[]) =>
      Promise.all([range, before].map((each) => load('campaign_funnel', measures, dimensions, each)));
    const countsByDay = async (dates: Range) =>
      byDay(await Promise.all(CUBES.map(([cube]) => load(cube, COUNTS, [], dates, { granularity: 'day' }))));
    const [
      [funnel = {}],
      [funnelBefore = {}],
      links,
      conversions,
      clicksOfPerks,
      conversionsOfPerks,
      [journeysOfPerks = [], journeysOfPerksBefore = []],
      clicksOfSources,
      [journeysOfSources = [], journeysOfSourcesBefore = []],
      teasers,
      days,
      daysBefore,
    ] = await Promise.all([
      load('campaign_funnel', FUNNEL),
      load('campaign_funnel', JOURNEY_STEPS, [], before),
      Promise.all(
        [range, before, daysUntil(before)].map((each) => loadIn(each, 'reward_links', LINK_MEMBERS)),
      ),
      Promise.all([range, before].map((each) => loadIn(each, 'conversions', CONVERSION_MEMBERS))),
      load('incentive_clicks', COUNTS, ['perk_id', 'perk_title']),
      load('conversions', ['count'], ['perk_id', 'perk_title']),
      outcomesBy(['perk_id', 'perk_title'], ['clickers', 'converters']),
      load('incentive_clicks', COUNTS, ['utm_source']),
      outcomesBy(['utm_source'], JOURNEY_STEPS),
      responseOf('boost', perkway.boost.getTeasers({ campaignId })),
      countsByDay(range),
      countsByDay(before),
    ]);
    const byPerk = figuresBy('perk_id', [
      ['incentive_clicks', clicksOfPerks, CLICKS],
      ['conversions', conversionsOfPerks, { conversions: 'count' }],
      ['campaign_funnel', journeysOfPerks, { clickers: 'clickers', converters: 'converters' }],
      [
        'campaign_funnel',
        journeysOfPerksBefore,
        { clickers_before: 'clickers', converters_before: 'converters' },
      ],
    ]);
    const titles = new Map(teasers.incentives.map(({ perkId, title }) => [perkId, title]));
    const unclicked = campaign.incentives
      .filter((perkId) => !byPerk.some(({ value }) => value === perkId))
      .map((perkId) => ({ value: perkId, title: titles.get(perkId) ?? null, figures: {} }));
    const bySource = figuresBy('utm_source', [
      ['incentive_clicks', clicksOfSources, CLICKS],
      [
        'campaign_funnel',
        comparedJourneys(journeysOfSources),
        { journeys: 'journeys', clickers: 'clickers', converters: 'converters' },
      ],
      [
        'campaign_funnel',
        comparedJourneys(journeysOfSourcesBefore),
        { journeys_before: 'journeys', clickers_before: 'clickers', converters_before: 'converters' },
      ],
    ]);
    return {
      funnel: Object.fromEntries(
        FUNNEL.map((name) => {
          const value = funnel[`campaign_funnel.${name}`];
          return [name, value === null || value === undefined ? null : Number(value)];
        }),
      ),
      range_before: before,
      steps: stepsOf(
        [funnel, funnelBefore],
        linkAmounts(links),
        conversions.map((rows) => conversionAmount(rows)),
      ),
      by_day: days,
      by_day_before: daysBefore,
      by_perk: [...byPerk, ...unclicked]
        .flatMap(({ value, title, figures }) =>
          value === null
            ? []
            : {
                perk_id: value,
                perk_title: title,
                ...{ clicks: 0, clicks_people: 0, clickers: 0, conversions: 0, converters: 0 },
                ...{ clickers_before: 0, converters_before: 0 },
                ...figures,
              },
        )
        .sort((a, b) => b.clicks - a.clicks || b.converters - a.converters),
      by_source: bySource
        .map(({ value, figures }) => ({
          utm_source: value,
          ...{ clicks: 0, clicks_people: 0, journeys: 0, clickers: 0, converters: 0 },
          ...{ journeys_before: 0, clickers_before: 0, converters_before: 0 },
          ...figures,
        }))
        .sort((a, b) => b.clicks - a.clicks || b.journeys - a.journeys),
    };
  }
}

/** Leaves out journeys that got only a reward link, as the comparisons of the console do. */
const comparedJourneys = (rows: Cells[]): Cells[] =>
  rows.map((row) => ({
    ...row,
    'campaign_funnel.journeys':
      number(row['campaign_funnel.journeys']) - number(row['campaign_funnel.gift_only_recipients']),
  }));

/** Collects the counts of each day from the rows of each cube. */
function byDay(rowsByCube: Cells[][]): Figures['by_day'] {
  const found = new Map<string, Figures['by_day'][number]>();
  for (const [index, [cube, name]] of CUBES.entries())
    for (const row of rowsByCube[index]!) {
      const day = String(row[`${cube}.occurred_at.day`]).slice(0, 10);
      const cells = found.get(day) ?? { day };
      found.set(day, cells);
      cells[name] = number(row[`${cube}.count`]);
      cells[`${name}_people`] = number(row[`${cube}.count_people`]);
    }
  return [...found.values()].sort((a, b) => a.day.localeCompare(b.day));
}

/** The rows of a cube, and the measure of each figure. */
type Part = [cube: string, rows: Cells[], figures: Record<string, string>];

/** Collects the figures of each value of a dimension; null stands for events without one. */
function figuresBy(dimension: string, parts: Part[]) {
  const found = new Map<
    string | null,
    { value: string | null; title: string | null; figures: Record<string, number> }
  >();
  for (const [cube, rows, figures] of parts)
    for (const row of rows) {
      const value = text(row[`${cube}.${dimension}`]);
      const one = found.get(value) ?? { value, title: text(row[`${cube}.perk_title`]), figures: {} };
      found.set(value, one);
      for (const [figure, measure] of Object.entries(figures))
        one.figures[figure] = number(row[`${cube}.${measure}`]);
    }
  return [...found.values()];
}

/** Returns all days before the range. */
function daysUntil({ from }: Range): Range {
  const dayBefore = new Date(Date.parse(from) - DAY_MS).toISOString().slice(0, 10);
  return { from: FIRST_DAY, to: [FIRST_DAY, dayBefore].sort()[1]! };
}

/** Returns the counts and amounts of each step now and before, as the campaign's screen shows them. */
function stepsOf(
  funnels: [now: Cells, before: Cells],
  links: Record<string, Amount>[],
  conversions: Amount[],
): StepDto[] {
  const [now, before] = funnels.map((funnel, index): Record<string, Amount> => ({
    ...Object.fromEntries(
      JOURNEY_STEPS.map((name) => [name, { count: number(funnel[`campaign_funnel.${name}`]) }]),
    ),
    conversions: conversions[index]!,
    ...links[index],
  }));
  return Object.entries(now!).map(([step, { count, money }]) => ({
    step,
    count,
    count_before: before![step]!.count,
    value: listOf(money),
    value_before: listOf(before![step]!.money),
  }));
}
const listOf = (money: Money = new Map()) =>
  [...money].map(([currency, amount]) => ({ currency, amount })).filter(({ amount }) => amount !== 0);

async function rowsOf(perkway: Perkway, query: Query): Promise<Cells[]> {
  const response = await responseOf('query', perkway.analytics.loadByPost({ query }));
  if (!('data' in response) || !Array.isArray(response.data))
    throw new Error('Expected rows in the response to a single query');
  return response.data;
}

/** The query host returns numbers as strings, as Cube does. */
const number = (value: unknown): number => Number(value ?? 0);
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
