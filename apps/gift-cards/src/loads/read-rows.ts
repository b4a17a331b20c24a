import { DomainError, isRecord } from '@perkway/domain';
import { parse } from 'csv-parse/sync';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { COLUMNS, readCardRow, type CardRow, type RowProblem } from './card-row.js';

/** Bytes of one row; more is no row, whatever it is. */
const MAX_ROW = 64 * 1024;
const NEWLINE = 10;
const NEVER = new AbortController().signal;

/** Rows in the order of the stream, checked. Blank lines and the CSV header are no rows. Never holds more than a chunk. */
export type Rows = AsyncIterable<CardRow | RowProblem>;

/** One JSON object per line. */
export async function* readNdjson(stream: Readable, cutOff = NEVER): Rows {
  for await (const lines of readLines(stream, cutOff))
    for (const line of lines) yield line === null ? 'ROW_INVALID' : readObject(line);
}

/**
 * A header that names the columns, in any order, then a row per line, with the quotes of RFC 4180; `pin` may be missing,
 * other columns are ignored. A quoted value does not go on in the next line: a quote too many spoils its row and no other.
 *
 * @throws VALIDATION_FAILED when the header is not understood
 */
export async function* readCsv(stream: Readable, cutOff = NEVER): Rows {
  let columns: number[] | undefined;
  let width = 0;
  for await (const lines of readLines(stream, cutOff))
    for (const line of lines) {
      const values = line === null ? null : valuesOf(line);
      if (!columns) {
        columns = readHeader(values ?? []);
        width = values!.length;
      } else if (values?.length !== width) yield 'ROW_INVALID';
      else {
        const [code, pin, denomination, currency, country] = columns.map((index) => values[index]);
        yield readCardRow({ code, pin, denomination, currency, country });
      }
    }
}

/** The lines that end in each chunk, but blank ones; null for one that is too long. */
async function* readLines(stream: Readable, cutOff: AbortSignal): AsyncIterable<(string | null)[]> {
  // Undefined while the rest of an overlong line is skipped.
  let rest: Buffer | undefined = Buffer.alloc(0);
  // When whoever reads the rows gives up, the connection is still to take the answer.
  const chunks: AsyncIterable<Buffer> = stream.iterator({ destroyOnReturn: false });
  for await (const chunk of until(cutOff, chunks)) {
    const lines: (string | null)[] = [];
    const add = (line: Buffer) => {
      const text = line.length > MAX_ROW ? null : textOf(line);
      if (text !== '') lines.push(text);
    };
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      from = end + 1;
      if (rest) add(rest.length > 0 ? Buffer.concat([rest, piece]) : piece);
      rest = Buffer.alloc(0);
    }
    if (rest) {
      // A copy, so that a small rest does not keep its chunk.
      rest = Buffer.concat([rest, chunk.subarray(from)]);
      if (rest.length > MAX_ROW) {
        rest = undefined;
        lines.push(null);
      }
    }
    yield lines;
  }
  // Reached only when the sender has finished: of a connection that was cut the last piece is no row.
  const last = rest && textOf(rest);
  if (last) yield [last];
}

/** Throws the reason of the signal when that is aborted, also while it waits. */
async function* until<T>(cutOff: AbortSignal, items: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = items[Symbol.asyncIterator]();
  let giveUp: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => (giveUp = () => reject(cutOff.reason as Error)));
  aborted.catch(() => undefined);
  cutOff.addEventListener('abort', giveUp);
  try {
    cutOff.throwIfAborted();
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    cutOff.removeEventListener('abort', giveUp);
    // Not awaited: it would wait for what the sender has not sent.
    void iterator.return?.();
  }
}

const textOf = (line: Buffer): string =>
  line
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();

function readObject(line: string): CardRow | RowProblem {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? readCardRow(value) : 'ROW_INVALID';
  } catch {
    return 'ROW_INVALID';
  }
}

/** Null when the quotes are wrong. */
function valuesOf(line: string): string[] | null {
  if (!line.includes('"')) return line.split(',');
  try {
    return (parse(line, { relax_column_count: true, trim: true }) as string[][])[0] ?? null;
  } catch {
    return null;
  }
}

/** Where each of COLUMNS stands; -1 for a `pin` that is not there. */
function readHeader(header: string[]): number[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const columns = COLUMNS.map((column) => names.indexOf(column));
  if (columns.some((index, column) => index < 0 && COLUMNS[column] !== 'pin'))
    throw new DomainError(
      'VALIDATION_FAILED',
      'The CSV header must name code, denomination, currency, country',
    );
  if (COLUMNS.some((column, index) => names.lastIndexOf(column) !== columns[index]))
    throw new DomainError('VALIDATION_FAILED', 'The CSV header names a column twice');
  return columns;
}

/** Reads and forgets what the sender still sends, so that it gets to read the answer. Gives up when the signal is aborted. */
export async function discard(stream: Readable, cutOff: AbortSignal): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return;
  stream.resume();
  const options = { signal: cutOff };
  await Promise.race([once(stream, 'end', options), once(stream, 'close', options)]).catch(() => undefined);
}
