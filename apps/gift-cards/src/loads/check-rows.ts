import type { DataSource } from 'typeorm';
import type { CardVault } from '../cards/card-vault.js';
import type { CardRow } from './card-row.js';
import { MAX_REPORTED, type CheckedValue, type LoadCheck, type RowReport } from './load.dto.js';
import type { Rows } from './read-rows.js';

/** Bounds the memory of a check, which keeps the hash of every code to find duplicates within the file. */
const MAX_CHECKED = 100_000;
/** Rows per statement. */
const BATCH = 500;

/** Finds which of the codes are stored, as their places in the list, counted from 1. */
const SELECT_STORED = `
  select place::integer from unnest($1::uuid[]) with ordinality as given (code_hash, place)
  where exists (select from cards c where c.code_hash = given.code_hash)`;

interface CheckedRow {
  number: number;
  hash: string;
  card: CardRow;
}

/** Tells what a load of the rows would do now. Writes nothing and stops after `MAX_CHECKED` rows. */
export async function checkRows(dataSource: DataSource, vault: CardVault, rows: Rows): Promise<LoadCheck> {
  const check: LoadCheck = {
    rows: 0,
    importable: 0,
    duplicates: 0,
    rejected: 0,
    rejected_rows: [],
    duplicate_rows: [],
    complete: true,
    values: [],
  };
  const codes = new Set<string>();
  const values = new Map<string, CheckedValue>();
  let batch: CheckedRow[] = [];
  const report = (list: RowReport[], row: number, reason: string) => {
    if (list.length < MAX_REPORTED) list.push({ row, reason });
  };
  const checkBatch = async () => {
    const hashes = batch.map(({ hash }) => hash);
    const stored = await dataSource.query<{ place: number }[]>(SELECT_STORED, [hashes]);
    const places = new Set(stored.map(({ place }) => place));
    for (const [index, { number, hash, card }] of batch.entries()) {
      if (places.has(index + 1) || codes.has(hash)) {
        check.duplicates += 1;
        report(check.duplicate_rows, number, 'CODE_DUPLICATE');
        continue;
      }
      codes.add(hash);
      check.importable += 1;
      const { denomination, currency, country, valid_until = null } = card;
      const name = [denomination, currency, country, valid_until].join(' ');
      const value = values.get(name);
      if (value) value.cards += 1;
      else values.set(name, { denomination: Number(denomination), currency, country, valid_until, cards: 1 });
    }
    batch = [];
  };
  for await (const row of rows) {
    if (check.rows === MAX_CHECKED) {
      check.complete = false;
      break;
    }
    check.rows += 1;
    if (typeof row === 'string') {
      check.rejected += 1;
      report(check.rejected_rows, check.rows, row);
    } else batch.push({ number: check.rows, hash: vault.hash(row.code), card: row });
    if (batch.length === BATCH) await checkBatch();
  }
  await checkBatch();
  return { ...check, values: [...values.values()].slice(0, MAX_REPORTED) };
}
