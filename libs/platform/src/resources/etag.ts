import { ApiError, isRecord } from '@perkway/domain';
import { createHash } from 'node:crypto';

const inOrder = (_name: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/**
 * Returns a strong entity tag (RFC 9110, section 8.8.3). Ignores a secret, which is shown only once, and the numbers of
 * a pool, which change with every card but not by an edit.
 */
export function etagOf({
  inventories: _,
  secret: _secret,
  ...stored
}: object & { inventories?: unknown; secret?: unknown }): string {
  const digest = createHash('sha256').update(JSON.stringify(stored, inOrder)).digest('base64url');
  return `"${digest.slice(0, 27)}"`;
}

/**
 * Checks the header `If-Match` (RFC 9110, section 13.1.1). Without the header everything matches.
 * @param current undefined if the resource does not exist
 * @throws ApiError PRECONDITION_FAILED
 */
export function requireMatch(ifMatch: string | undefined, current: object | undefined): void {
  if (ifMatch === undefined) return;
  if (!current)
    throw new ApiError('PRECONDITION_FAILED', 'If-Match was sent, but the resource does not exist');
  const wanted = ifMatch.split(',').map((tag) => tag.trim());
  if (!wanted.includes('*') && !wanted.includes(etagOf(current)))
    throw new ApiError('PRECONDITION_FAILED', 'The resource has changed since you read it. Read it again');
}
