import type { AuthenticatedRequest } from '@perkway/auth';
import { invalidField, isCallerId } from '@perkway/domain';
import type { LanguageWish } from '../text/language.js';
import { lastOf } from './perk-filters.js';

/**
 * The reads take what they need from the request themselves: each decorated parameter sends its value through the
 * pipes of the application, which together cost as much as the reading.
 */
export type ReadRequest = AuthenticatedRequest & {
  params: { collectionId: string; perkId: string };
  query: Record<string, string | string[] | undefined>;
};

/** @throws DomainError VALIDATION_FAILED for an id in the address that cannot be one */
export function requireIds(ids: Partial<ReadRequest['params']>): void {
  for (const name of ['collectionId', 'perkId'] as const)
    if (ids[name] !== undefined && !isCallerId(ids[name]))
      throw invalidField(name, 'must have 1 to 100 characters of A-Z a-z 0-9 . _ -');
}

export const wishOf = ({ query, headers }: ReadRequest): LanguageWish => ({
  lang: lastOf(query.lang),
  acceptLanguage: headers['accept-language'],
});
