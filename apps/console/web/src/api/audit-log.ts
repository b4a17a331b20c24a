import { formatMoment } from '../format';
import { texts } from '../texts';
import { get, type Page } from './http';
import type { AuditEntry, AuditQuery } from './types';

const t = texts.auditLog;
/** Entries of the object among which the change is searched: its codes or cards may have been loaded since. */
const SEARCHED = 10;

export const actorOf = ({ person, actor }: AuditEntry) => person ?? t.byKey(actor);

/** Says who saved this version of an object, and when; null if the audit log does not have it, or not yet. */
export async function savedBy(
  kind: AuditQuery['kind'],
  object: string,
  { updated_at }: { updated_at?: string },
): Promise<string | null> {
  const query = { kind, object, outcome: 'done', limit: SEARCHED };
  const log = await get<Page<AuditEntry>>('/api/audit-log', query).catch(() => null);
  const entry = log?.data.find(({ after }) => after?.updated_at === updated_at);
  return entry ? t.savedBy(actorOf(entry), formatMoment(entry.at)) : null;
}
