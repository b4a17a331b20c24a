import type { AuditQuery } from '../api/types';
import { texts } from '../texts';
import { AuditEntries } from './audit-entries';

/** The changes of one object. */
export default function History({ id, kind }: { id: string; kind: AuditQuery['kind'] }) {
  return <AuditEntries caption={texts.auditLog.historyOf(id)} filters={{ object: id, kind }} />;
}
