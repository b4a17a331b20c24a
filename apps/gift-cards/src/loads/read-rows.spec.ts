import { Readable } from 'node:stream';
import fc from 'fast-check';
import type { CardRow, RowProblem } from './card-row.js';
import { readCsv, readNdjson, type Rows } from './read-rows.js';

const collect = async (rows: Rows): Promise<(CardRow | RowProblem)[]> => {
  const all: (CardRow | RowProblem)[] = [];
  for await (const row of rows) all.push(row);
  return all;
};
const streamOf = (text: string | Buffer): Readable => Readable.from([Buffer.from(text as string)]);
/** A stream of the same bytes, split into chunks of these sizes. */
const cutInto = (text: string, sizes: number[]): Readable => {
  const bytes = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let at = 0, round = 0; at < bytes.length; round += 1) {
    const size = sizes[round % sizes.length]!;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return Readable.from(chunks);
};
const line = (given: object = {}) =>
  JSON.stringify({ code: 'A', denomination: 25, currency: 'EUR', country: 'FR', ...given });
const card = (given: object = {}) => ({
  code: 'A',
  denomination: '25',
  currency: 'EUR',
  country: 'FR',
  ...given,
});
const HEADER = 'code,pin,denomination,currency,country\n';

describe('NDJSON', () => {
  it('yields a row per line, with or without a final newline, CRLF, blank lines and byte order mark', async () => {
    const text = `\uFEFF${line({ pin: '1' })}\r\n\n  \n${line({ code: ' B ', denomination: '10.50' })}`;
    expect(await collect(readNdjson(streamOf(text)))).toEqual([
      card({ pin: '1' }),
      card({ code: 'B', denomination: '10.5' }),
    ]);
    expect(await collect(readNdjson(streamOf(`${line()}\n`)))).toEqual([card()]);
    expect(await collect(readNdjson(streamOf('')))).toEqual([]);
  });

  it.each([
    ['ROW_INVALID', ['{', '[]', 'null', '"x"', '{"code":"A"} {}', `${line()},`]],
    [
      'CODE_INVALID',
      [
        { code: undefined },
        { code: '' },
        { code: '  ' },
        { code: 12 },
        { code: 'x'.repeat(256) },
        { code: 'a\0b' },
        { code: 'a\uFFFDb' },
        { code: 'a\nb' },
        { code: 'a\u200bb' },
      ].map(line),
    ],
    ['PIN_INVALID', [{ pin: 1234 }, { pin: 'x'.repeat(256) }, { pin: 'a\0' }, { pin: '1\t2' }].map(line)],
    [
      'DENOMINATION_INVALID',
      [
        ...[undefined, 0, -5, '1,5', '1e3', 1e11, 0.00001, '', '0x10', true, 12.505, '0.001'].map(
          (denomination) => line({ denomination }),
        ),
        line({ denomination: 0.5, currency: 'JPY' }),
        line({ denomination: '1.2345', currency: 'KWD' }),
      ],
    ],
    ['CURRENCY_INVALID', ['eur', 'ABC', undefined].map((currency) => line({ currency }))],
    ['COUNTRY_INVALID', ['fr', 'UK', undefined].map((country) => line({ country }))],
  ])('reports %s', async (reason, lines) => {
    expect(await collect(readNdjson(streamOf(lines.join('\n'))))).toEqual(lines.map(() => reason));
  });

  it('accepts as many decimals as the currency has', async () => {
    const rows = readNdjson(
      streamOf(
        `${line({ denomination: '500.00', currency: 'JPY' })}\n${line({ denomination: 1.125, currency: 'KWD' })}`,
      ),
    );
    expect(await collect(rows)).toEqual([
      card({ denomination: '500', currency: 'JPY' }),
      card({ denomination: '1.125', currency: 'KWD' }),
    ]);
  });

  it('rejects a code that is not valid UTF-8', async () => {
    const [before, after] = line({ code: '@' }).split('@');
    const bytes = Buffer.concat([Buffer.from(before!), Buffer.from([0xff]), Buffer.from(after!)]);
    expect(await collect(readNdjson(streamOf(bytes)))).toEqual(['CODE_INVALID']);
  });

  it('rejects an endless line without buffering it', async () => {
    const endless = Array.from({ length: 100 }, () => Buffer.alloc(64 * 1024, 'x'));
    const rows = await collect(readNdjson(Readable.from([...endless, Buffer.from(`\n${line()}\n`)])));
    expect(rows).toEqual(['ROW_INVALID', card()]);
  });

  it('ignores the incomplete last row of a cut connection', async () => {
    const cut = new Readable({ read: () => undefined });
    const rows: (CardRow | RowProblem)[] = [];
    const reading = (async () => {
      for await (const row of readNdjson(cut)) rows.push(row);
    })();
    cut.push(`${line()}\n${line({ code: 'B' })}`);
    setTimeout(() => cut.destroy(new Error('aborted')), 20);
    await expect(reading).rejects.toThrow('aborted');
    expect(rows).toEqual([card()]);
  });
});

describe('CSV', () => {
  it('finds columns by name and handles quotes, CRLF and byte order mark', async () => {
    const text = `\uFEFFCountry, code ,note,currency,denomination\r\nFR,"A ""1"", x",,EUR,25\r\n  \r\nDE, "B2" ,?,USD,0.5\n`;
    expect(await collect(readCsv(streamOf(text)))).toEqual([
      card({ code: 'A "1", x' }),
      card({ code: 'B2', denomination: '0.5', currency: 'USD', country: 'DE' }),
    ]);
    expect(await collect(readCsv(streamOf(`${HEADER}A,,25,EUR,FR`)))).toEqual([card()]);
    expect(await collect(readCsv(streamOf(HEADER)))).toEqual([]);
    expect(await collect(readCsv(streamOf('')))).toEqual([]);
  });

  it('rejects rows with the wrong number of columns, and continues', async () => {
    const text = `${HEADER}A,1,25,EUR\nA,1,25,EUR,FR,x\nA,1,25,eur,FR\nA,1,25,EUR,FR\n`;
    expect(await collect(readCsv(streamOf(text)))).toEqual([
      'ROW_INVALID',
      'ROW_INVALID',
      'CURRENCY_INVALID',
      card({ pin: '1' }),
    ]);
  });

  it.each([
    'B"2,1,25,EUR,FR',
    '"B"2,1,25,EUR,FR',
    '"B,1,25,EUR,FR',
    '"B,1,25,EUR,FR\n"B,1,25,EUR,FR',
    ','.repeat(100_000),
    `"${'x'.repeat(100_000)}",1,25,EUR,FR`,
  ])('rejects bad row %#, and no other row', async (bad) => {
    const rows = await collect(readCsv(cutInto(`${HEADER}A,,25,EUR,FR\n${bad}\nA,,25,EUR,FR\n`, [10_000])));
    expect(rows).toEqual([card(), ...bad.split('\n').map(() => 'ROW_INVALID'), card()]);
  });

  it.each([
    ['that lacks a column', 'code,pin,currency,country\n'],
    ['that repeats a column', 'code,code,denomination,currency,country\n'],
    ['that is a data row', 'A,1,25,EUR,FR\n'],
    ['with an unbalanced quote', `"code,pin,denomination,currency,country\n`],
    ['that never ends', 'x'.repeat(100_000)],
  ])('rejects a header %s', async (_, text) => {
    await expect(collect(readCsv(streamOf(text)))).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('ignores the incomplete last row of a cut connection', async () => {
    const cut = new Readable({ read: () => undefined });
    const rows: (CardRow | RowProblem)[] = [];
    const reading = (async () => {
      for await (const row of readCsv(cut)) rows.push(row);
    })();
    cut.push(`${HEADER}A,,25,EUR,FR\nB,,25,EUR,FR`);
    setTimeout(() => cut.destroy(), 20);
    await expect(reading).rejects.toThrow();
    expect(rows).toEqual([card()]);
  });
});

it('reads the same rows wherever the stream is split', async () => {
  const codes = ['A', 'Ünïcødé', '日本', '😀', 'B C', '-'];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...codes), { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      async (given, sizes) => {
        const expected = given.map((code) => card({ code }));
        const ndjson = given.map((code) => `${line({ code })}\n`).join('');
        expect(await collect(readNdjson(cutInto(ndjson, sizes)))).toEqual(expected);
        const csv = HEADER + given.map((code) => `${code},,25,EUR,FR\n`).join('');
        expect(await collect(readCsv(cutInto(csv, sizes)))).toEqual(expected);
      },
    ),
    { numRuns: 40 },
  );
});
