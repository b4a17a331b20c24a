import { formatMoment } from '../format';
import { texts } from '../texts';
import { get, type Page } from './http';
import type { AuditEntry, AuditQuery } from './types';

const t = texts.auditLog;
/** How many of the object's latest entries are searched: loads of codes or cards may have come after the change. */
const SEARCHED = 10;

export const actorOf = ({ person, actor }: AuditEntry) => person ?? t.byKey(actor);

/** Returns a sentence on who saved this version of an object, and when; null if it is not (yet) in the audit log. */
export async function savedBy(
  kind: AuditQuery['kind'],
  object: string,
  { updated_at }: { updated_at?: string },
): Promise<string | null> {
  if (updated_at === undefined) return null;
  const query = { kind, object, outcome: 'done', limit: SEARCHED };
  const log = await get<Page<AuditEntry>>('/api/audit-log', query).catch(() => null);
  const entry = log?.data.find(({ after }) => after?.updated_at === updated_at);
  return entry ? t.savedBy(actorOf(entry), formatMoment(entry.at)) : null;
}
