import cube, { type Query, type ResultSet } from '@cubejs-client/core';
import { texts } from '../texts';
import { TIMEZONE, type Range } from '../dates';
import { download, get, Refusal, reportSignedOut } from './http';
import type { Cube } from './types';

const API = '/api/query/cubejs-api/v1';
/** Who asks is known by the session: the console puts the token on the call. */
const client = cube('', {
  apiUrl: new URL(API, location.origin).href,
  networkErrorRetries: 2,
  fetchTimeout: 60_000,
});

export type Row = Record<string, string | number | null>;
export type { Query };

/** The rows of each part of the answer: one, or one for each of the compared ranges. */
export async function loadParts(query: Query): Promise<Row[][]> {
  try {
    // Rows without the names of their members are a third of the size.
    const answer: ResultSet<Row> = await client.load(
      { timezone: TIMEZONE, ...query },
      {},
      undefined,
      'compact',
    );
    return answer.decompose().map((part) => part.rawData() as Row[]);
  } catch (error) {
    throw toRefusal(error);
  }
}

export const loadRows = async (query: Query): Promise<Row[]> => (await loadParts(query))[0] ?? [];

function toRefusal(error: unknown): Refusal {
  const { status = 0, message = '' } = error as { status?: number; message?: string };
  if (status === 401) reportSignedOut();
  if (status === 0) return new Refusal(0, 'NO_ANSWER', texts.errors.noAnswer);
  return new Refusal(status, status === 429 ? 'TOO_MANY_REQUESTS' : 'QUERY_REFUSED', message);
}

export const downloadCsv = (query: Query, name: string): Promise<void> =>
  download(`${API}/load`, name, {
    query: { query: JSON.stringify({ timezone: TIMEZONE, ...query }) },
    headers: { accept: 'text/csv' },
  });

export const loadMeta = (signal?: AbortSignal) =>
  get<{ cubes: Cube[] }>(`${API}/meta`, undefined, signal).then(({ cubes }) => cubes);

export const numberOf = (row: Row | undefined, member: string): number => Number(row?.[member] ?? 0);
export const sumOf = (rows: Row[], member: string): number =>
  rows.reduce((sum, row) => sum + numberOf(row, member), 0);

export const within = (cubeName: string, dateRange: Range, granularity?: 'day' | 'week' | 'month') => ({
  timeDimensions: [{ dimension: `${cubeName}.occurred_at`, dateRange, ...(granularity && { granularity }) }],
});

/** Values by day, with zero for the days that no row tells of. */
export function byDay(rows: Row[], cubeName: string, member: string, days: string[]): number[] {
  const values = new Map<string, number>();
  for (const row of rows) {
    const day = String(row[`${cubeName}.occurred_at.day`] ?? row[`${cubeName}.occurred_at`]).slice(0, 10);
    values.set(day, (values.get(day) ?? 0) + numberOf(row, member));
  }
  return days.map((day) => values.get(day) ?? 0);
}
