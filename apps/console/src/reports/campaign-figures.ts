import { Injectable } from '@nestjs/common';
import { DomainError } from '@perkway/domain';
import { AnalyticsTokens } from '../fleet/analytics-tokens.js';
import { FleetCalls, LONG_PATIENCE_MS } from '../fleet/fleet-calls.js';
import type { Session } from '../sessions/session.js';

type Cells = Record<string, unknown>;
interface Range {
  from: string;
  to: string;
}

const FUNNEL = [
  'journeys',
  'teaser_viewers',
  'reward_viewers',
  'clickers',
  'converters',
  'gift_recipients',
  'gift_openers',
  'click_rate',
  'conversion_rate',
  'events_without_journey',
];
/** The cubes of a campaign, and how a report calls their figures. */
const BY_DAY = {
  teaser_views: 'teaser_views',
  reward_views: 'reward_views',
  incentive_clicks: 'clicks',
  conversions: 'conversions',
} as const;
const MOST_ROWS = 1_000;

/** The figures of a campaign as the query host counts them now: sums alone, no journeys and no attributes. */
@Injectable()
export class CampaignFigures {
  constructor(
    private readonly calls: FleetCalls,
    private readonly tokens: AnalyticsTokens,
  ) {}

  /** @throws CAMPAIGN_NOT_FOUND */
  async nameOf(session: Session, campaignId: string): Promise<string> {
    const address = `/campaigns/${encodeURIComponent(campaignId)}`;
    try {
      const { name } = await this.calls.json<{ name: string }>({
        host: 'boost',
        method: 'GET',
        address,
        headers: { 'x-api-key': session.key },
      });
      return name;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NOT_FOUND')
        throw new DomainError('CAMPAIGN_NOT_FOUND');
      throw error;
    }
  }

  async read(session: Session, campaignId: string, range: Range) {
    const load = (cube: string, measures: string[], query: Cells = {}) =>
      this.load(session, {
        measures: measures.map((measure) => `${cube}.${measure}`),
        filters: [{ member: `${cube}.campaign_id`, operator: 'equals', values: [campaignId] }],
        timeDimensions: [
          { dimension: `${cube}.occurred_at`, dateRange: [range.from, range.to], ...(query.time as object) },
        ],
        dimensions: ((query.dimensions as string[] | undefined) ?? []).map((name) => `${cube}.${name}`),
        limit: MOST_ROWS,
      });
    const counts = ['count', 'count_people'];
    const cubes = Object.entries(BY_DAY);
    const [[funnel = {}], clicksOfPerks, conversionsOfPerks, bySource, ...days] = await Promise.all([
      load('campaign_funnel', FUNNEL),
      load('incentive_clicks', counts, { dimensions: ['perk_id', 'perk_title'] }),
      load('conversions', ['count'], { dimensions: ['perk_id', 'perk_title'] }),
      load('incentive_clicks', counts, { dimensions: ['utm_source'] }),
      ...cubes.map(([cube]) => load(cube, counts, { time: { granularity: 'day' } })),
    ]);
    const byDay = new Map<string, Cells>();
    for (const [index, [cube, name]] of cubes.entries())
      for (const row of days[index]!) {
        const day = String(row[`${cube}.occurred_at.day`]).slice(0, 10);
        const cells = byDay.get(day) ?? { day };
        byDay.set(day, cells);
        cells[name] = number(row[`${cube}.count`]);
        cells[`${name}_people`] = number(row[`${cube}.count_people`]);
      }
    const byPerk = new Map<unknown, Cells>();
    const perk = (cube: string, row: Cells): Cells => {
      const id = row[`${cube}.perk_id`];
      const cells = byPerk.get(id) ?? {
        perk_id: id,
        perk_title: row[`${cube}.perk_title`],
        clicks: 0,
        clicks_people: 0,
        conversions: 0,
      };
      byPerk.set(id, cells);
      return cells;
    };
    for (const row of clicksOfPerks) {
      const cells = perk('incentive_clicks', row);
      // A perk that was renamed has a row for each of its titles.
      cells.clicks = Number(cells.clicks) + number(row['incentive_clicks.count']);
      cells.clicks_people = Number(cells.clicks_people) + number(row['incentive_clicks.count_people']);
    }
    for (const row of conversionsOfPerks) {
      const cells = perk('conversions', row);
      cells.conversions = Number(cells.conversions) + number(row['conversions.count']);
    }
    return {
      funnel: Object.fromEntries(
        FUNNEL.map((name) => {
          const value = funnel[`campaign_funnel.${name}`];
          return [name, value === null || value === undefined ? null : Number(value)];
        }),
      ),
      by_day: [...byDay.values()].sort((a, b) => String(a.day).localeCompare(String(b.day))),
      by_perk: [...byPerk.values()].sort((a, b) => Number(b.clicks) - Number(a.clicks)),
      by_source: bySource
        .map((row) => ({
          utm_source: row['incentive_clicks.utm_source'],
          clicks: number(row['incentive_clicks.count']),
          clicks_people: number(row['incentive_clicks.count_people']),
        }))
        .sort((a, b) => b.clicks - a.clicks),
    };
  }

  private async load(session: Session, query: object): Promise<Cells[]> {
    const { data } = await this.calls.json<{ data: Cells[] }>({
      host: 'query',
      method: 'POST',
      address: '/cubejs-api/v1/load',
      headers: {
        authorization: await this.tokens.of(session),
        'content-type': 'application/json',
      },
      body: JSON.stringify({ query }),
      patienceMs: LONG_PATIENCE_MS,
    });
    return data;
  }
}

/** Cube writes numbers as text. */
const number = (value: unknown): number => Number(value ?? 0);
