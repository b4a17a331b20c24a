import type { Range } from './dates';

/** A condition on a member of the cube; null is the missing value. */
export interface Condition {
  member: string;
  value: string | null;
}

interface Question {
  cube: string;
  measures?: string[];
  dimensions?: string[];
  campaignId?: string;
  where?: Condition[];
  steps?: 'none' | 'day' | 'week' | 'month';
  /** Without bots, prefetches and mail proxies. */
  isPeople?: boolean;
  range: Range;
  /** A preset of the range picker to keep instead of `range`, so that the question moves on with the days. */
  dates?: string;
}

/** A condition in a URL: `utm_source` alone is the missing value, `utm_source:mail` the value. */
export const writeCondition = ({ member, value }: Condition) =>
  value === null ? member : `${member}:${value}`;
export function readCondition(text: string): Condition {
  const at = text.indexOf(':');
  return at < 0 ? { member: text, value: null } : { member: text.slice(0, at), value: text.slice(at + 1) };
}

/** Returns the URL of Explore with a question, so that any figure can lead to what it is made of. */
export function exploreLink({
  cube,
  measures,
  dimensions = [],
  campaignId,
  where = [],
  steps = 'none',
  isPeople = false,
  range,
  dates,
}: Question) {
  const params = new URLSearchParams({
    cube,
    steps,
    ...(dates ? { dates } : { from: range[0], to: range[1] }),
  });
  if (measures) params.set('measures', measures.join(','));
  if (dimensions.length > 0) params.set('dimensions', dimensions.join(','));
  if (isPeople) params.set('people', 'yes');
  if (campaignId !== undefined)
    params.append('where', writeCondition({ member: 'campaign_id', value: campaignId }));
  for (const condition of where) params.append('where', writeCondition(condition));
  return `/explore?${params}`;
}
