/** Perkway has no older events. */
export const FIRST_DAY = '2000-01-01';

/** Sums by currency, which are never added to each other. */
export type Money = Map<string, number>;

/** Rounds to four decimals, the most that a currency has (CLF, UYW), to remove floating-point errors. */
export const roundMoney = (amount: number): number => Number(amount.toFixed(4));

export function addMoney(money: Money, currency: unknown, value: number): void {
  if (typeof currency === 'string' && value !== 0)
    money.set(currency, roundMoney((money.get(currency) ?? 0) + value));
}

/** A count and, if the step has a monetary value, the total by currency. */
export interface Amount {
  count: number;
  money?: Money;
}

/** A row of the query host. */
type Row = Record<string, unknown>;

const LINKS = 'reward_links';
const CONVERSIONS = 'conversions';
const nothing = () => ({ count: 0, money: new Map() as Money });
const numberOf = (row: Row, member: string): number => Number(row[member] ?? 0);

/** Change of the number of outstanding links when a link gets a state. */
export const LINK_STATES = { generated: 1, revealed: -1, cancelled: -1, expired: -1 };
type LinkState = keyof typeof LINK_STATES;

/** Members that `linkAmounts` needs from the query host. */
export const LINK_MEMBERS = {
  measures: [`${LINKS}.count`],
  dimensions: [`${LINKS}.state`, `${LINKS}.currency`, `${LINKS}.denomination`],
};

/**
 * Counts links by what happened to them in each range; a link is worth the value of its card. A link is outstanding at
 * the end of a range if it was generated but neither revealed nor ended by then.
 *
 * @param parts the rows of each range, the latest first; the earliest begins on `FIRST_DAY`
 */
export function linkAmounts(parts: Row[][]): Record<LinkState | 'outstanding', Required<Amount>>[] {
  const outstanding = nothing();
  // The oldest dates first, so that the outstanding links add up.
  return [...parts]
    .reverse()
    .map((rows) => {
      const amounts = { generated: nothing(), revealed: nothing(), cancelled: nothing(), expired: nothing() };
      for (const row of rows) {
        const state = row[`${LINKS}.state`] as LinkState;
        const count = numberOf(row, `${LINKS}.count`);
        const value = count * numberOf(row, `${LINKS}.denomination`);
        const currency = row[`${LINKS}.currency`];
        amounts[state].count += count;
        addMoney(amounts[state].money, currency, value);
        outstanding.count += LINK_STATES[state] * count;
        addMoney(outstanding.money, currency, LINK_STATES[state] * value);
      }
      return { ...amounts, outstanding: { count: outstanding.count, money: new Map(outstanding.money) } };
    })
    .reverse();
}

/** Members that `conversionAmount` needs from the query host. */
export const CONVERSION_MEMBERS = {
  measures: [`${CONVERSIONS}.count`, `${CONVERSIONS}.value`],
  dimensions: [`${CONVERSIONS}.currency`],
  segments: [`${CONVERSIONS}.people`],
};

/** Counts the conversions of people, and adds up the values that the servers sent with them. */
export function conversionAmount(rows: Row[]): Required<Amount> {
  const amount = nothing();
  for (const row of rows) {
    amount.count += numberOf(row, `${CONVERSIONS}.count`);
    addMoney(amount.money, row[`${CONVERSIONS}.currency`], numberOf(row, `${CONVERSIONS}.value`));
  }
  return amount;
}
