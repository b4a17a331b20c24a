import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { loadRows } from '../api/analytics';
import { dayOf, daysAgo } from '../dates';
import { formatLongDay } from '../format';
import { Empty, Loaded } from '../parts/loaded';
import { texts } from '../texts';

const t = texts.nothingTracked;
const IN_CAMPAIGNS = ['teaser_views', 'reward_views', 'incentive_clicks', 'conversions', 'reward_links'];
const EVERYWHERE = [...IN_CAMPAIGNS, 'perk_views', 'perk_clicks'];
/** Number of days in which the latest event is searched for. */
const DAYS = 1_000;
const SHOWN_DAYS = 30;

/** Returns the latest day with events of the campaign or of the account, bots excluded; null if there is none. */
async function loadLatestDay(campaignId: string | undefined): Promise<string | null> {
  const days = await Promise.all(
    (campaignId === undefined ? EVERYWHERE : IN_CAMPAIGNS).map(async (cube) => {
      const time = `${cube}.occurred_at`;
      const [row] = await loadRows({
        measures: [`${cube}.${cube === 'reward_links' ? 'count' : 'count_people'}`],
        timeDimensions: [{ dimension: time, granularity: 'day', dateRange: [daysAgo(DAYS), daysAgo(0)] }],
        ...(campaignId !== undefined && {
          filters: [{ member: `${cube}.campaign_id`, operator: 'equals', values: [campaignId] }],
        }),
        order: { [time]: 'desc' },
        limit: 1,
      });
      return row ? [String(row[`${time}.day`] ?? row[time]).slice(0, 10)] : [];
    }),
  );
  return days.flat().sort().at(-1) ?? null;
}

interface Props {
  campaignId?: string;
  /** What to do first, where nothing was ever tracked. */
  children: ReactNode;
}

/** Says when something was tracked last, and leads there, or else says how to begin. */
export function NothingTracked({ campaignId, children }: Props) {
  const latest = useQuery({
    queryKey: ['latest-day', campaignId],
    queryFn: () => loadLatestDay(campaignId),
  });
  return (
    <Loaded query={latest} lines={2}>
      {(day) =>
        day === null ? (
          children
        ) : (
          <Empty title={t.title}>
            <p>{t.latest(formatLongDay(dayOf(day)))}</p>
            <Link className="button" to={`?from=${daysAgo(SHOWN_DAYS - 1, dayOf(day))}&to=${day}`}>
              {t.show}
            </Link>
          </Empty>
        )
      }
    </Loaded>
  );
}
