import { parse } from 'csv-parse/sync';

import type { Card, Pool } from './resources.js';

export const isCsv = (pool: Pool): boolean => pool.cards?.endsWith('.csv') ?? false;

/** Parses a pool's card file the way gift-cards does. @throws an Error if the file is malformed */
export function readCards(pool: Pool & { text?: string }): Card[] {
  const { text = '' } = pool;
  return isCsv(pool)
    ? parse(text, {
        columns: true,
        bom: true,
        skip_empty_lines: true,
        cast: (value, { header, column }) => (!header && column === 'denomination' ? Number(value) : value),
      })
    : text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => JSON.parse(line) as Card);
}
