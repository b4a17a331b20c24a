import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { insertOf } from './ingest/event-rows.js';
import { modelFor } from './model/model.js';
import { compile } from './query/compile.js';
import { normalize } from './query/normalize.js';

/**
 * Checks for SQL that Postgres accepts but Citus rejects or runs wrongly. `npm run citus` runs everything on Citus;
 * this spec needs no Citus.
 */
const NOW = Date.parse('2026-06-15T12:00Z');
const WATERMARK = { closedTo: Date.parse('2026-06-15T10:00Z'), dirty: [Date.parse('2026-06-03T07:00Z')] };

/** Every measure by every dimension, with and without time, rollups, filters and total. */
function* statements(): Generator<string> {
  const model = modelFor([{ name: 'plan' }, { name: 'a_b', isFolded: true }]);
  for (const { name: cube, dimensions, measures } of model.cubes)
    for (const measure of Object.keys(measures))
      for (const dimension of [undefined, ...Object.keys(dimensions)])
        for (const granularity of ['day', undefined])
          for (const more of [
            {},
            { total: true, order: { [`${cube}.${measure}`]: 'desc' }, limit: 20 },
            { filters: [{ member: `${cube}.${measure}`, operator: 'gt', values: ['1'] }] },
            dimension && dimensions[dimension]!.type === 'string'
              ? { filters: [{ member: `${cube}.${dimension}`, operator: 'contains', values: ['a'] }] }
              : { ungrouped: true },
          ]) {
            const query = {
              measures: [`${cube}.${measure}`],
              dimensions: dimension ? [`${cube}.${dimension}`] : [],
              timeDimensions: [
                { dimension: `${cube}.occurred_at`, granularity, dateRange: ['2026-05-01', '2026-06-15'] },
              ],
              timezone: 'Europe/Berlin',
              ...more,
            };
            for (const watermark of [undefined, WATERMARK]) {
              const { text, total } = compile(normalize(query, NOW).queries[0]!, model, 'acme', {
                watermark,
              });
              yield text;
              if (total) yield total.text;
            }
          }
}

const KNOWN = [
  ...['tracking_events', 'event_hours', 'perk_days', 'campaign_days'],
  ...['campaign_names', 'perk_names', 'lateral'],
];
/** Reads of account tables, each with the SQL up to the next one. */
const reads = (text: string): string[] =>
  text.split(/\bfrom (?=(?:tracking_events|event_hours|perk_days|campaign_days)\b)/).slice(1);
/** Tables and subqueries that a statement reads, except function results. */
const sources = (text: string): string[] =>
  [...text.matchAll(/\b(?:from|join) (\w+)\b(?!\()/g)].map(([, name]) => name!);

describe('SQL that runs on Citus', () => {
  it('filters every table of a query by account, so that one node runs the whole query', () => {
    const texts = new Set(statements());
    expect(texts.size).toBeGreaterThan(1_000);
    const isWhole = (text: string): boolean => {
      const parts = reads(text);
      // Otherwise Citus sends the query to all nodes.
      const isOfAccount = (part: string) => part.includes(`${/^\w+ (\w)\b/.exec(part)![1]}.account_id = $1`);
      return (
        parts.length > 0 && parts.every(isOfAccount) && sources(text).every((name) => KNOWN.includes(name))
      );
    };
    expect([...texts].filter((text) => !isWhole(text))).toEqual([]);
  });

  it('inserts a batch without a subquery per row', () => {
    const { text } = insertOf([
      {
        v: 1,
        id: 'e',
        account: 'acme',
        at: NOW,
        type: 'perk_view',
        collection: 'main',
        perks: ['a'],
        cmeta: { plan: 'gold' },
        utm: { utm_source: 'mail' },
      },
    ]);
    expect(text).toMatch(/from unnest\(/);
    expect(text.match(/\bselect\b/g)).toHaveLength(1);
  });

  it('sets the account with `set local`, which reaches the nodes, and uses no lateral subquery', () => {
    const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => ({ file, text: readFileSync(join(__dirname, file), 'utf8') }));
    const having = (pattern: RegExp) =>
      sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
    expect(having(/set_config\(/)).toEqual([]);
    expect(having(/set local perkway\.account_id/)).toEqual([join('reader', 'reader.ts')]);
    expect(having(/lateral \(\s*select/)).toEqual([]);
    // A subquery per row of a list: Citus rejects it on distributed tables.
    expect(having(/unnest\([^`;]*\bwhere\s+(not\s+)?exists/)).toEqual([]);
  });
});
