import { DomainError } from '@perkway/domain';
import { parse } from 'csv-parse';
import { once } from 'node:events';
import { Transform, type Readable } from 'node:stream';
import { COLUMNS, readCardRow, type CardRow, type RawRow, type RowProblem } from './card-row.js';

/** Bytes of one row; more is no row, whatever it is. */
const MAX_ROW = 64 * 1024;
const NEWLINE = 10;
const RETURN = 13;
const UNREADABLE = 'The CSV cannot be read from here on';

/** Rows in the order of the stream, checked. Blank lines and the CSV header are no rows. Never holds more than a chunk. */
export type Rows = AsyncIterable<CardRow | RowProblem>;

/** One JSON object per line. */
export async function* readNdjson(stream: Readable): Rows {
  // Undefined while the rest of an overlong line is skipped.
  let rest: Buffer | undefined = Buffer.alloc(0);
  // When whoever reads the rows gives up, the connection is still to take the answer.
  const chunks: AsyncIterable<Buffer> = stream.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      from = end + 1;
      if (rest) {
        const line = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
        const row = line.length > MAX_ROW ? 'ROW_INVALID' : readLine(line);
        if (row) yield row;
      }
      rest = Buffer.alloc(0);
    }
    if (!rest) continue;
    // A copy, so that a small rest does not keep its chunk.
    rest = Buffer.concat([rest, chunk.subarray(from)]);
    if (rest.length > MAX_ROW) {
      rest = undefined;
      yield 'ROW_INVALID';
    }
  }
  // Reached only when the sender has finished: of a connection that was cut the last piece is no row.
  const last = rest && readLine(rest);
  if (last) yield last;
}

function readLine(line: Buffer): CardRow | RowProblem | null {
  const text = line
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'ROW_INVALID';
    return readCardRow(value as RawRow);
  } catch {
    return 'ROW_INVALID';
  }
}

/**
 * RFC 4180 with a header that names the columns, in any order; `pin` may be missing, other columns are ignored.
 *
 * @throws VALIDATION_FAILED when the header or the quoting is broken, so that what follows cannot be read
 */
export async function* readCsv(stream: Readable): Rows {
  const parser = parse({
    bom: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW,
  });
  // Not `pipeline`: it would destroy the request, and with it the connection that takes the answer.
  stream.on('error', (error) => parser.destroy(error));
  stream.on('close', () => {
    if (!stream.readableEnded) parser.destroy(new Error('the connection was cut'));
  });
  const limit = limitRows().on('error', (error) => parser.destroy(error));
  stream.pipe(limit).pipe(parser);
  try {
    let columns: number[] | undefined;
    let width = 0;
    for await (const record of parser as AsyncIterable<string[]>) {
      if (!columns) {
        columns = readHeader(record);
        width = record.length;
      } else if (record.length !== width) yield 'ROW_INVALID';
      else {
        const [code, pin, denomination, currency, country] = columns.map((index) => record[index]);
        yield readCardRow({ code, pin, denomination, currency, country });
      }
    }
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('CSV_'))
      throw new DomainError('VALIDATION_FAILED', UNREADABLE);
    throw error;
  }
}

/** The parser limits the text of a row, but not its separators. */
function limitRows(): Transform {
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const last = Math.max(chunk.lastIndexOf(NEWLINE), chunk.lastIndexOf(RETURN));
      length = last < 0 ? length + chunk.length : chunk.length - 1 - last;
      if (length > MAX_ROW) done(new DomainError('VALIDATION_FAILED', UNREADABLE));
      else done(null, chunk);
    },
  });
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
  return columns;
}

/** Reads and forgets what the sender still sends, so that it gets to read the answer. */
export async function discard(stream: Readable): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return;
  stream.resume();
  await Promise.race([once(stream, 'end'), once(stream, 'close')]).catch(() => undefined);
}
