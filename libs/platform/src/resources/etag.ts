import { DomainError, isRecord } from '@perkway/domain';
import { createHash } from 'node:crypto';

const inOrder = (_name: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/**
 * A strong entity tag (RFC 9110, section 8.8.3) of what is stored. The numbers of a pool are no part of it: they change
 * with every card that is given away, and nobody who edits the pool means those.
 */
export function etagOf({ inventories: _, ...stored }: object & { inventories?: unknown }): string {
  const digest = createHash('sha256').update(JSON.stringify(stored, inOrder)).digest('base64url');
  return `"${digest.slice(0, 27)}"`;
}

/**
 * Judges the header `If-Match` (RFC 9110, section 13.1.1). Without one everything matches.
 * @param current undefined for what does not exist
 * @throws DomainError PRECONDITION_FAILED
 */
export function requireMatch(ifMatch: string | undefined, current: object | undefined): void {
  if (ifMatch === undefined) return;
  if (!current) throw new DomainError('PRECONDITION_FAILED', 'If-Match was sent, and it does not exist');
  const wanted = ifMatch.split(',').map((tag) => tag.trim());
  if (!wanted.includes('*') && !wanted.includes(etagOf(current)))
    throw new DomainError('PRECONDITION_FAILED', 'It was changed meanwhile: read it again');
}
