import { differences } from '@perkway/catalogue/differences';
import { useInfiniteQuery } from '@tanstack/react-query';
import { get, type Page } from '../api/http';
import type { AuditEntry, AuditQuery } from '../api/types';
import { formatMomentToSecond } from '../format';
import { Differences } from '../parts/differences';
import { Empty } from '../parts/loaded';
import { Pages } from '../parts/pages';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.auditLog;
const SHOWN = 40;

/** Describes a change in words; returns undefined for a call without a text. */
function sentenceOf({ action, path }: AuditEntry): string | undefined {
  const call = `${action} ${path.replaceAll('%40', '@')}`;
  const [pattern, sentence] = t.done.find(([known]) => known.test(call)) ?? [];
  return pattern && call.replace(pattern, sentence!);
}

/** Lists the entries of the audit log that match, newest first. */
export function AuditEntries({ caption, filters }: { caption: string; filters: AuditQuery }) {
  const log = useInfiniteQuery({
    queryKey: ['audit-log', filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      get<Page<AuditEntry>>('/api/audit-log', { ...filters, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    staleTime: 0,
  });
  return (
    <div className="stack">
      <Pages
        query={log}
        empty={<Empty title={Object.values(filters).some(Boolean) ? t.emptyTitle : t.emptyUnfiltered} />}
      >
        {(rows) => (
          <Table
            caption={caption}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                name: t.when,
                isHead: true,
                cell: ({ at }) => <time dateTime={at}>{formatMomentToSecond(at)}</time>,
              },
              {
                name: t.who,
                cell: ({ actor, person, account_id }) => (
                  <>
                    {person ?? t.byKey(actor)}
                    <br />
                    <span className="hint">{account_id}</span>
                  </>
                ),
              },
              {
                name: t.what,
                cell: (entry) => (
                  <>
                    {sentenceOf(entry)}{' '}
                    {entry.status === null ? (
                      <span className="badge warn">{t.unknown}</span>
                    ) : (
                      entry.status >= 400 && <span className="badge bad">{t.refused(entry.status)}</span>
                    )}
                    <br />
                    <code className="hint">
                      {entry.action} {entry.host} {entry.path}
                    </code>
                  </>
                ),
              },
              {
                name: t.changes,
                cell: ({ before, after }) => {
                  const all = differences(before, after);
                  return all.length === 0 ? (
                    <span className="hint">{t.noChanges}</span>
                  ) : (
                    <details>
                      <summary>{t.count(all.length)}</summary>
                      <Differences of={all.slice(0, SHOWN)} />
                    </details>
                  );
                },
              },
            ]}
          />
        )}
      </Pages>
    </div>
  );
}
