import type { AuthenticatedRequest } from '@perkway/auth';
import { type LanguagePreference, lastOf } from '@perkway/domain';
import { requireCallerId } from '@perkway/platform';

/**
 * The reads use the raw request: Nest sends each decorated parameter through the app's pipes, and together those cost
 * as much as the read itself.
 */
export type ReadRequest = AuthenticatedRequest & {
  params: { collectionId: string; perkId: string };
  query: Record<string, string | string[] | undefined>;
};

/** @throws ApiError VALIDATION_FAILED for a malformed id in the path */
export function requireIds(ids: Partial<ReadRequest['params']>): void {
  for (const name of ['collectionId', 'perkId'] as const)
    if (ids[name] !== undefined) requireCallerId(ids[name], name);
}

export const preferenceOf = ({ query, headers }: ReadRequest): LanguagePreference => ({
  lang: lastOf(query.lang),
  acceptLanguage: headers['accept-language'],
});
