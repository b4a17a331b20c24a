import { addMoney, type Money } from '@perkway/domain/step-amounts';
import type { Row } from './api/analytics';
import { formatList, formatMoney } from './format';
import { texts } from './texts';

export { addMoney, type Money };

/** Sums the values of conversions by a dimension; the key '' has those without one. */
export function valuesBy(dimension: string, rows: Row[]): Map<string, Money> {
  const values = new Map<string, Money>();
  for (const row of rows) {
    const key = String(row[dimension] ?? '');
    const money = values.get(key) ?? new Map<string, number>();
    addMoney(money, row['conversions.currency'], Number(row['conversions.value'] ?? 0));
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
