import { PerkwayError, type Perkway } from '@perkway/client';
import { unavailable } from '@perkway/domain';
import { v5 as uuidFrom } from 'uuid';

/** What each link of a job is made with. */
export interface LinkRequest {
  pool_id: string;
  denomination: number;
  currency: string;
  country: string | null;
  campaign_id: string | null;
  expires_at: number;
}
export interface JobRow {
  row: number;
  reference: string | null;
}
export type Made = { id: string; link: string } | { refused: string };

/** Links at once, of one job. */
export const LINKS_AT_ONCE = 8;

/**
 * Makes the link, or asks for it again: the same job and row have the same idempotency key, so that repeating one makes no
 * second. @throws DomainError DEPENDENCY_UNAVAILABLE when nobody knows
 */
export async function makeLink(
  perkway: Perkway,
  createdBy: string,
  jobId: string,
  { pool_id: poolId, country, campaign_id, ...wish }: LinkRequest,
  { row, reference }: JobRow,
): Promise<Made> {
  try {
    const { id, reward_link: link } = await perkway.gift.generateRewardLink({
      ...wish,
      poolId,
      createdBy,
      idempotencyKey: uuidFrom(String(row), jobId),
      ...(country === null ? {} : { country }),
      ...(campaign_id === null ? {} : { campaign_id }),
      ...(reference === null ? {} : { reference }),
    });
    return { id, link };
  } catch (error) {
    if (!(error instanceof PerkwayError)) throw error;
    const { status = 0, code } = error;
    if (status < 400 || status >= 500 || status === 429) throw unavailable('The gift-card service', error);
    return { refused: code };
  }
}

/** Does the work for each of them, so many at once, in the order of the answers. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: LINKS_AT_ONCE }, worker));
  return results;
}
