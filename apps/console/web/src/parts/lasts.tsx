import { LOW_STOCK_DAYS, URGENT_STOCK_DAYS } from '@perkway/domain/low-stock';
import { runsOutIn, type StockRate } from '../api/stock';
import { texts } from '../texts';

const t = texts.giftCards;

/** Says how long stock lasts. Says nothing while it is unknown. */
export function Lasts({ stock }: { stock: StockRate | undefined }) {
  if (!stock) return null;
  const { available, days_left } = stock;
  if (available === 0) return <span className="badge bad">{t.noneLeft}</span>;
  if (days_left === null) {
    const days = runsOutIn(stock);
    const unknown = days !== null && days < URGENT_STOCK_DAYS ? t.urgentRate : t.tooLittleHistory;
    return <span className="hint wraps">{days === null ? t.noPace : unknown}</span>;
  }
  const tone =
    days_left < URGENT_STOCK_DAYS ? 'badge bad' : days_left < LOW_STOCK_DAYS ? 'badge warn' : undefined;
  return <span className={tone}>{t.daysLeft(days_left)}</span>;
}
