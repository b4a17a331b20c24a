import { numberOf, type Row } from './api/analytics';
import { formatList, formatMoney } from './format';
import { texts } from './texts';

/** Sums by currency, which are never added to each other. */
export type Money = Map<string, number>;

/** No currency has more than three decimals. */
export function addMoney(money: Money, currency: unknown, value: number): void {
  if (typeof currency === 'string' && value !== 0)
    money.set(currency, Number(((money.get(currency) ?? 0) + value).toFixed(3)));
}

/** Sums the values of conversions by a dimension; the key '' has those without one. */
export function valuesBy(dimension: string, rows: Row[]): Map<string, Money> {
  const values = new Map<string, Money>();
  for (const row of rows) {
    const key = String(row[dimension] ?? '');
    const money = values.get(key) ?? new Map<string, number>();
    addMoney(money, row['conversions.currency'], numberOf(row, 'conversions.value'));
    if (money.size > 0) values.set(key, money);
  }
  return values;
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
