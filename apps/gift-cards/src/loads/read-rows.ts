import { ApiError, isRecord } from '@perkway/domain';
import { parse } from 'csv-parse/sync';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { COLUMNS, readCardRow, type CardRow, type RowProblem } from './card-row.js';

/** Maximum size of a row in bytes; longer rows are invalid. */
const MAX_ROW = 64 * 1024;
const NEWLINE = 10;
const NEVER = new AbortController().signal;

/** Validated rows in stream order, without blank lines and the CSV header. Buffers no more than one chunk. */
export type Rows = AsyncIterable<CardRow | RowProblem>;

/** One JSON object per line. */
export async function* readNdjson(stream: Readable, cutOff = NEVER): Rows {
  for await (const lines of readLines(stream, cutOff))
    for (const line of lines) yield line === null ? 'ROW_INVALID' : readObject(line);
}

/**
 * Reads a header that names the columns in any order, then one row per line, quoted as in RFC 4180. `pin`,
 * `valid_until` and `batch` are optional, and other columns are ignored. A quoted value must end on its line, so an
 * unbalanced quote spoils only its own row.
 *
 * @throws VALIDATION_FAILED if the header is invalid
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
        yield readCardRow(
          Object.fromEntries(COLUMNS.map((column, place) => [column, values[columns![place]!]])),
        );
      }
    }
}

/** Yields the lines that end in each chunk, without blank ones; null stands for a line that is too long. */
async function* readLines(stream: Readable, cutOff: AbortSignal): AsyncIterable<(string | null)[]> {
  // Undefined while skipping the rest of a line that is too long.
  let rest: Buffer | undefined = Buffer.alloc(0);
  // Keep the connection open if the reader stops early, because the response still goes through it.
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
      // Copied, so that a small rest does not keep its whole chunk in memory.
      rest = Buffer.concat([rest, chunk.subarray(from)]);
      if (rest.length > MAX_ROW) {
        rest = undefined;
        lines.push(null);
      }
    }
    yield lines;
  }
  // Reached only if the sender finished. A cut connection throws before, so its incomplete last line is dropped.
  const last = rest && textOf(rest);
  if (last) yield [last];
}

/** Iterates until the signal is aborted, then throws its reason, even while waiting for the next item. */
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
    // Not awaited, because it would wait for data that the sender has not sent.
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

/** Returns the values of a CSV line, or null if its quotes are invalid. */
function valuesOf(line: string): string[] | null {
  if (!line.includes('"')) return line.split(',');
  try {
    return (parse(line, { relax_column_count: true, trim: true }) as string[][])[0] ?? null;
  } catch {
    return null;
  }
}

const REQUIRED: readonly string[] = ['code', 'denomination', 'currency', 'country'];

/** Returns the index of each of COLUMNS in the header; -1 for a missing optional one. */
function readHeader(header: string[]): number[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const columns = COLUMNS.map((column) => names.indexOf(column));
  if (columns.some((index, column) => index < 0 && REQUIRED.includes(COLUMNS[column]!)))
    throw new ApiError('VALIDATION_FAILED', 'The CSV header must name code, denomination, currency, country');
  if (COLUMNS.some((column, index) => names.lastIndexOf(column) !== columns[index]))
    throw new ApiError('VALIDATION_FAILED', 'The CSV header names a column twice');
  return columns;
}

/**
 * Reads and drops the rest of the request body, so that the sender gets to read the response. Stops when the signal is
 * aborted.
 */
export async function discard(stream: Readable, cutOff: AbortSignal): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return;
  stream.resume();
  const options = { signal: cutOff };
  await Promise.race([once(stream, 'end', options), once(stream, 'close', options)]).catch(() => undefined);
}
