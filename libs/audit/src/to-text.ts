import type { AuditedEntry, CardsReport, Finding } from './audit-gift-cards.js';
import type { EventsReport } from './compare-events.js';

const HEAD = ['pool', 'entry', 'loaded', 'available', 'reserved', 'redeemed', 'withdrawn', 'lapsed', ''];

const toCells = (entry: AuditedEntry): string[] => {
  const { shown } = entry;
  const cell = (name: keyof typeof shown) =>
    entry[name] === shown[name] ? String(entry[name]) : `${entry[name]} (shown: ${shown[name]})`;
  return [
    entry.pool,
    [entry.denomination, entry.currency, entry.country, entry.valid_until].filter(Boolean).join(' '),
    cell('loaded'),
    cell('available'),
    cell('reserved'),
    cell('redeemed'),
    cell('withdrawn'),
    cell('lapsed'),
    entry.holds ? 'ok' : 'WRONG',
  ];
};

const problemOf = ({ check, count, examples }: Finding): string =>
  `WRONG: ${check}: ${count}, ${examples.length < count ? 'such as ' : ''}${examples.join(', ')}`;

/** Returns the reports as a table of the cards and a line for each finding. */
export function toText({ at, entries, findings, passed }: CardsReport, events: EventsReport): string {
  const rows = [HEAD, ...entries.map(toCells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  const compared = `Compared: ${events.links} links${events.streamed === undefined ? '' : `, ${events.streamed} events of the stream`}.`;
  return [
    `Gift cards at ${at}`,
    '',
    ...table,
    '',
    ...findings.map(problemOf),
    passed ? 'Every card is in exactly one place, and the numbers are right.' : 'The audit FAILED.',
    '',
    ...events.findings.map(problemOf),
    compared,
    ...events.notCompared.map((what) => `Not compared: ${what}.`),
    events.findings.length === 0 ? 'Rows and events agree.' : 'Rows and events DIFFER.',
    '',
  ].join('\n');
}
