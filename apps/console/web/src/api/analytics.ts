import cube, { type Query, type ResultSet } from '@cubejs-client/core';
import { attributeOf } from '../attribute-of';
import { texts } from '../texts';
import { TIMEZONE, type Range } from '../dates';
import { get, ApiError, reportSignedOut } from './http';
import type { Cube } from './types';

const API = '/api/query/cubejs-api/v1';
/** Sends no token: the console's server adds the session's token. */
const client = cube('', {
  apiUrl: new URL(API, location.origin).href,
  networkErrorRetries: 2,
  fetchTimeout: 60_000,
});

export type Row = Record<string, string | number | null>;
export type { Query };

/** Returns the rows of each part of the result: one part, or one per compared date range. */
export async function loadParts(query: Query): Promise<Row[][]> {
  try {
    // Rows in compact format are a third of the size.
    const response: ResultSet<Row> = await client.load(
      { timezone: TIMEZONE, ...query },
      {},
      undefined,
      'compact',
    );
    return response.decompose().map((part) => part.rawData() as Row[]);
  } catch (error) {
    throw toApiError(error);
  }
}

export const loadRows = async (query: Query): Promise<Row[]> => (await loadParts(query))[0] ?? [];

function toApiError(error: unknown): ApiError {
  const { status = 0, message = '' } = error as { status?: number; message?: string };
  if (status === 401) reportSignedOut();
  if (status === 0) return new ApiError(0, 'NO_RESPONSE', texts.errors.noResponse);
  return new ApiError(status, status === 429 ? 'TOO_MANY_REQUESTS' : 'QUERY_REFUSED', message);
}

/** Names of measures in the words of the other screens. */
const NAMES: Record<string, string> = {
  ...texts.explore.measureNames,
  ...Object.fromEntries(
    Object.entries(texts.funnel.steps)
      .filter(([step]) => step !== 'journeys')
      .map(([step, name]) => [`campaign_funnel.${step}`, name]),
  ),
  'campaign_funnel.click_rate': texts.rates.clicked,
  'campaign_funnel.journey_conversion_rate': texts.rates.converted,
  'campaign_funnel.conversion_rate': texts.rates.convertedOfClicked,
};
const shortOf = (member: string) => member.slice(member.indexOf('.') + 1);

export const loadMeta = async (signal?: AbortSignal): Promise<Cube[]> => {
  const { cubes } = await get<{ cubes: Cube[] }>(`${API}/meta`, undefined, signal);
  return cubes.map((cube) => ({
    ...cube,
    measures: cube.measures.map((measure) => ({
      ...measure,
      shortTitle: NAMES[measure.name] ?? NAMES[shortOf(measure.name)] ?? measure.shortTitle,
    })),
    dimensions: cube.dimensions.map((dimension) => {
      const name = shortOf(dimension.name);
      const attribute = attributeOf(name);
      const title = attribute ? texts.explore.attribute(attribute, name) : texts.explore.dimensionNames[name];
      return { ...dimension, shortTitle: title ?? dimension.shortTitle };
    }),
  }));
};

export const numberOf = (row: Row | undefined, member: string): number => Number(row?.[member] ?? 0);
export const sumOf = (rows: Row[], member: string): number =>
  rows.reduce((sum, row) => sum + numberOf(row, member), 0);

export const within = (cubeName: string, dateRange: Range, granularity?: 'day' | 'week' | 'month') => ({
  timeDimensions: [{ dimension: `${cubeName}.occurred_at`, dateRange, ...(granularity && { granularity }) }],
});

/** Selects the events of one campaign, or all events if no campaign is given. */
export const ofCampaign = (cubeName: string, campaignId?: string): NonNullable<Query['filters']> =>
  campaignId === undefined
    ? []
    : [{ member: `${cubeName}.campaign_id`, operator: 'equals', values: [campaignId] }];

/** The journeys that took each step in two periods. */
export async function loadFunnel(ranges: [Range, Range], campaignId?: string) {
  const [current, earlier] = await loadParts({
    measures: [...Object.keys(texts.funnel.steps), 'gift_only_recipients', 'events_without_journey'].map(
      (measure) => `campaign_funnel.${measure}`,
    ),
    timeDimensions: [{ dimension: 'campaign_funnel.occurred_at', compareDateRange: ranges }],
    filters: ofCampaign('campaign_funnel', campaignId),
  });
  return { current: current?.[0], earlier: earlier?.[0] };
}
export type FunnelRows = Awaited<ReturnType<typeof loadFunnel>>;

export const linkOnlyIn = (row: Row | undefined) => numberOf(row, 'campaign_funnel.gift_only_recipients');
/** The measures that `comparedJourneys` needs. */
export const COMPARED = ['journeys', 'gift_only_recipients'];
/**
 * Returns the journeys that comparisons divide by. A link may be made for a journey long before its message is sent, or
 * be cancelled, so journeys that got only a link would lower the rate of every part.
 */
export const comparedJourneys = (row: Row | undefined) =>
  numberOf(row, 'campaign_funnel.journeys') - linkOnlyIn(row);

/** Returns values by day, with zero for days without a row. */
export function byDay(rows: Row[], cubeName: string, member: string, days: string[]): number[] {
  const values = new Map<string, number>();
  for (const row of rows) {
    const day = String(row[`${cubeName}.occurred_at.day`] ?? row[`${cubeName}.occurred_at`]).slice(0, 10);
    values.set(day, (values.get(day) ?? 0) + numberOf(row, member));
  }
  return days.map((day) => values.get(day) ?? 0);
}
