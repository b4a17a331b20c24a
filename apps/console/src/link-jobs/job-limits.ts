import type { AnswerOf, Documents, Perkway } from '@perkway/client';
import { ApiError } from '@perkway/domain';
import type { DataSource } from 'typeorm';
import { responseOf } from '../fleet/fleet-clients.js';
import type { LinkJobRow } from './link-jobs.service.js';

type Limit = AnswerOf<Documents['gift']['getLimit']>;
type Usage = AnswerOf<Documents['gift']['getLimitUsage']>;

/** The reference with the most links. For the other references, limits are checked only while the job runs. */
const MAX_LINKS_PER_REFERENCE = `
  select reference, count(*)::integer as links from link_job_rows
  where job_id = $1 and reference is not null group by reference order by links desc limit 1`;

/**
 * Checks that the whole job fits into each limit of the account at this moment. Nothing is reserved: the gift-card
 * service checks the limits again for each link.
 * @throws ApiError LIMIT_REACHED, SESSION_ENDED, DEPENDENCY_UNAVAILABLE; NOT_FOUND if a limit was just deleted
 */
export async function requireRoom(dataSource: DataSource, perkway: Perkway, job: LinkJobRow): Promise<void> {
  const limits = await responseOf('gift', allOf(perkway.gift.listLimits()));
  for (const limit of limits) {
    const counted = await countedLinks(dataSource, job, limit);
    if (!counted) continue;
    const { value, links } = counted;
    const usage = await responseOf(
      'gift',
      perkway.gift.getLimitUsage({ limitId: limit.id, ...(limit.per === 'account' ? {} : { value }) }),
    );
    if (links > linksLeft(usage, job)) throw new ApiError('LIMIT_REACHED', refusal(limit, usage, links));
  }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Returns how many links of the job the limit counts for one value; undefined if none. */
async function countedLinks(
  dataSource: DataSource,
  { id, request, total, created_by }: LinkJobRow,
  { per, only }: Limit,
): Promise<{ value: string; links: number } | undefined> {
  const { pool_id, campaign_id } = request;
  if (only?.pool_id && only.pool_id !== pool_id.toLowerCase()) return undefined;
  if (only?.campaign_id && only.campaign_id !== campaign_id) return undefined;
  if (per === 'journey_id' && !request.references_are_journey_ids) return undefined;
  switch (per) {
    case 'pool_id':
      return { value: pool_id, links: total };
    case 'campaign_id':
      return campaign_id === null ? undefined : { value: campaign_id, links: total };
    case 'created_by':
      return { value: created_by, links: total };
    case 'journey_id':
    case 'reference': {
      const [most] = await dataSource.query<{ reference: string; links: number }[]>(MAX_LINKS_PER_REFERENCE, [
        id,
      ]);
      return most && { value: most.reference, links: most.links };
    }
    // A job gets a new key, for which nothing is counted yet. Its own id stands in for the key: no key has that id.
    case 'key_id':
      return { value: id, links: total };
    default:
      return { value: '', links: total };
  }
}

function linksLeft({ links, amount }: Usage, { request }: LinkJobRow): number {
  const byCount = links ? links.limit - links.used : Infinity;
  if (amount?.currency !== request.currency) return byCount;
  // Rounded down, except for the noise of floating-point numbers.
  const byAmount = Math.floor((amount.limit - amount.used) / request.denomination + 1e-6);
  return Math.min(byCount, byAmount);
}

function refusal({ id }: Limit, { resets_at, links, amount }: Usage, wanted: number): string {
  const used = [
    ...(links ? [`${links.used} of ${links.limit} links`] : []),
    ...(amount ? [`${amount.used} of ${amount.limit} ${amount.currency}`] : []),
  ].join(' and ');
  const until = resets_at === null ? 'It never resets.' : `It resets at ${resets_at}.`;
  return `The ${wanted} links do not fit into the limit ${id}, of which ${used} are used. ${until}`;
}
