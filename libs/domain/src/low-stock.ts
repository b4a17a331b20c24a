/** Stock with fewer available cards or codes is low. */
export const LOW_STOCK = 50;
/** Stock that lasts fewer days at its rate is low, too: new cards take about two weeks to buy and load. */
export const LOW_STOCK_DAYS = 14;
/** Stock that lasts fewer days is urgent. */
export const URGENT_STOCK_DAYS = 3;
/** Usage rates cover this many UTC days, including today, or the age of the stock if that is less. */
export const STOCK_RATE_DAYS = 30;

/** `daysLeft` makes no forecast from fewer uses, or from fewer days: their rate may be chance. */
export const LEAST_USED = 5;
export const LEAST_DAYS = 3;

/** Stock of a card value or of single-use codes, and how fast it is used. */
export interface StockRate {
  available: number;
  /** Used in the last 30 days, less what came back. */
  used: number;
  /** Days that the rate covers: the age of the stock, at least 1 and at most 30. */
  days: number;
}

/** Returns for how many days the stock lasts at its rate; null if there is too little history to say. */
export const daysLeft = ({ available, used, days }: StockRate): number | null =>
  used >= LEAST_USED && days >= LEAST_DAYS ? Math.floor((available * days) / used) : null;

/** Returns how many are used per day; null if none was used. */
export const usedPerDay = ({ used, days }: Pick<StockRate, 'used' | 'days'>): number | null =>
  used > 0 ? used / days : null;

/** Returns the first instant of the days of the rate. */
export function stockRateStart(): Date {
  const first = new Date();
  first.setUTCHours(0, 0, 0, 0);
  first.setUTCDate(first.getUTCDate() - (STOCK_RATE_DAYS - 1));
  return first;
}

/** SQL for `StockRate.days` of stock that exists since `since`, an SQL expression. */
export const rateDays = (since: string): string =>
  `greatest(1, least(${STOCK_RATE_DAYS}, extract(epoch from now() - ${since}) / 86400))`;

/** SQL for the days until stock runs out, to sort by: 0 if it has, null (last) if none was used. */
export const runsOut = (available: string, used: string, days: string): string =>
  `case when ${available} = 0 then 0 when ${used} > 0 then ${available} * ${days} / ${used} end`;

/** SQL for whether stock is low. */
export const isLow = (available: string, used: string, days: string): string =>
  `(${available} < ${LOW_STOCK} or ${available} * ${days} < ${used} * ${LOW_STOCK_DAYS})`;
