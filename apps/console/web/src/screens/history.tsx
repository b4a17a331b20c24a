import type { AuditEntry, AuditQuery } from '../api/types';
import { texts } from '../texts';
import { AuditEntries } from './audit-entries';

interface Props {
  id: string;
  kind: AuditQuery['kind'];
  onRestore: (entry: AuditEntry) => void;
}

/** The changes of one object. */
export default function History({ id, kind, onRestore }: Props) {
  return (
    <AuditEntries
      caption={texts.auditLog.historyOf(id)}
      filters={{ object: id, kind }}
      onRestore={onRestore}
    />
  );
}
