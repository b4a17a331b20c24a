import { Injectable } from '@nestjs/common';
import { unavailable } from '@perkway/domain';
import { v5 as uuidFrom } from 'uuid';
import { codeOf, FleetCalls } from '../fleet/fleet-calls.js';

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

/** Makes the links of jobs: the same job and row have the same idempotency key, so that repeating one makes no second. */
@Injectable()
export class LinkRequests {
  constructor(private readonly calls: FleetCalls) {}

  /** Makes the link, or asks for it again. @throws DomainError DEPENDENCY_UNAVAILABLE when nobody knows */
  async make(
    key: string,
    createdBy: string,
    jobId: string,
    request: LinkRequest,
    { row, reference }: JobRow,
  ): Promise<Made> {
    const { pool_id: poolId, country, campaign_id, ...body } = request;
    const answer = await this.calls.send({
      host: 'gift',
      method: 'POST',
      address: `/pool/${poolId}/reward-links?idempotencyKey=${uuidFrom(String(row), jobId)}`,
      headers: { 'x-api-key': key, 'x-created-by': createdBy, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...body,
        ...(country === null ? {} : { country }),
        ...(campaign_id === null ? {} : { campaign_id }),
        ...(reference === null ? {} : { reference }),
      }),
    });
    if (answer.status === 201) {
      const { id, reward_link: link } = (await answer.json()) as { id: string; reward_link: string };
      return { id, link };
    }
    const code = await codeOf(answer);
    if (answer.status >= 500 || answer.status === 429)
      throw unavailable('The gift-card service', new Error(code));
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
