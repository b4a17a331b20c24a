import { addMoney, type Money } from '@perkway/domain/step-amounts';
import { numberOf, type Row } from './api/analytics';
import { formatList, formatMoney } from './format';
import { texts } from './texts';

export { addMoney, type Money };

/** Sums money by a dimension; the key '' has that of rows without one. */
function moneyBy(dimension: string, rows: Row[], currency: string, valueOf: (row: Row) => number) {
  const values = new Map<string, Money>();
  for (const row of rows) {
    const key = String(row[dimension] ?? '');
    const money = values.get(key) ?? new Map<string, number>();
    addMoney(money, row[currency], valueOf(row));
    if (money.size > 0) values.set(key, money);
  }
  return values;
}

/** Sums the values of conversions. */
export const valuesBy = (dimension: string, rows: Row[]): Map<string, Money> =>
  moneyBy(dimension, rows, 'conversions.currency', (row) => numberOf(row, 'conversions.value'));

/** Sums the values of the cards of links, whose rows have a count for each denomination. */
export const cardValuesBy = (dimension: string, rows: Row[]): Map<string, Money> =>
  moneyBy(
    dimension,
    rows,
    'reward_links.currency',
    (row) => numberOf(row, 'reward_links.count') * numberOf(row, 'reward_links.denomination'),
  );

/** Returns a function from a row to its amount, to sort by; undefined if the rows have several currencies. */
export function sortBySum<T>(rows: readonly T[], moneyOf: (row: T) => Money | undefined) {
  const currencies = new Set(rows.flatMap((row) => [...(moneyOf(row)?.keys() ?? [])]));
  return currencies.size > 1 ? undefined : (row: T) => moneyOf(row)?.values().next().value ?? 0;
}

/** @param none stands for no money */
export function formatSums(money: Money = new Map(), none: string = texts.none): string {
  const sums = [...money].filter(([, sum]) => sum !== 0);
  return sums.length === 0
    ? none
    : formatList(
        sums
          .sort(([one], [other]) => one.localeCompare(other))
          .map(([currency, sum]) => formatMoney(sum, currency)),
      );
}
