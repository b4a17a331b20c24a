import { PerkwayError, type Perkway } from '@perkway/client';
import { unavailable } from '@perkway/domain';
import { v5 as uuidFrom } from 'uuid';

/** The settings that all links of a job share. */
export interface LinkRequest {
  pool_id: string;
  denomination: number;
  currency: string;
  country: string | null;
  campaign_id: string | null;
  expires_at: number;
  /** Absent in jobs of earlier releases. */
  references_are_journey_ids?: boolean;
  /** `cmeta_*` and `utm_*` by name. Absent in jobs of earlier releases. */
  attributes?: Record<string, string>;
}
export interface JobRow {
  row: number;
  reference: string | null;
}
export type Made = { id: string; link: string } | { refused: string };

/** Links of one job created concurrently. */
export const CONCURRENT_LINKS = 8;

/**
 * Creates the link of a row, or gets it again: a row of a job always has the same idempotency key.
 * @throws ApiError DEPENDENCY_UNAVAILABLE if the outcome is unknown, or if a rate limit rejected the request (429)
 */
export async function makeLink(
  perkway: Perkway,
  createdBy: string,
  jobId: string,
  {
    pool_id: poolId,
    country,
    campaign_id,
    references_are_journey_ids,
    attributes,
    ...preference
  }: LinkRequest,
  { row, reference }: JobRow,
): Promise<Made> {
  try {
    const { id, reward_link: link } = await perkway.gift.generateRewardLink({
      ...attributes,
      ...preference,
      poolId,
      createdBy,
      idempotencyKey: uuidFrom(String(row), jobId),
      ...(country === null ? {} : { country }),
      ...(campaign_id === null ? {} : { campaign_id }),
      ...(reference === null ? {} : { reference }),
      ...(reference !== null && references_are_journey_ids ? { journey_id: reference } : {}),
    });
    return { id, link };
  } catch (error) {
    if (!(error instanceof PerkwayError)) throw error;
    const { status = 0, code } = error;
    if (status < 400 || status >= 500 || status === 429) throw unavailable('The gift-card service', error);
    return { refused: code };
  }
}

/** Runs the work on all items with limited concurrency; results are in the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENT_LINKS }, worker));
  return results;
}
