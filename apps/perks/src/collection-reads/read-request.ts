import type { AuthenticatedRequest } from '@perkway/auth';
import { type LanguageWish, lastOf } from '@perkway/domain';
import { requireCallerId } from '@perkway/platform';

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
    if (ids[name] !== undefined) requireCallerId(ids[name], name);
}

export const wishOf = ({ query, headers }: ReadRequest): LanguageWish => ({
  lang: lastOf(query.lang),
  acceptLanguage: headers['accept-language'],
});
