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

type State = Record<string, unknown> | null;

/** The name of a managed resource in a state of it. */
function nameIn(state: State): string | undefined {
  const { title, name, product } = (state ?? {}) as { title?: unknown; name?: unknown; product?: State };
  const found = title ?? name ?? product?.name;
  return typeof found === 'string' && found ? found : undefined;
}

/** A first save has no state before. A state that could not be read is missing, too, but then the times differ. */
const isNew = ({ before, after }: AuditEntry) => before === null && after?.created_at === after?.updated_at;

/** Describes a change in words, with the name of the object where one of the entries has it. */
function sentenceOf(entry: AuditEntry, names: ReadonlyMap<string, string>): string | undefined {
  const { action, path } = entry;
  const call = `${action} ${path.replaceAll('%40', '@')}`;
  const [pattern, sentence] = t.done.find(([known]) => known.test(call)) ?? [];
  if (!pattern) return undefined;
  const [, id] = MANAGED.exec(path) ?? [];
  const name = id && names.get(id);
  const text =
    action === 'PUT' ? sentence!.replace(/^Saved/, isNew(entry) ? t.created : t.changed) : sentence!;
  return call.replace(pattern, name ? text.replace('$1', () => name.replaceAll('$', '$$$$')) : text);
}

const MANAGED = /\/admin\/[^/]+\/([^/]+)/;
/** The latest names of managed resources in these entries, newest first, by id. */
function namesIn(entries: AuditEntry[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { path, before, after } of entries) {
    const [matched, id] = MANAGED.exec(path) ?? [];
    const name = nameIn(after) ?? nameIn(before);
    if (id && name && path.endsWith(matched!) && !names.has(id)) names.set(id, name);
  }
  return names;
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
        {(rows) => {
          const names = namesIn(rows);
          return (
            <Table
              caption={caption}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: t.when,
                  isHead: true,
                  cell: ({ at }) => (
                    <time className="nowrap" dateTime={at}>
                      {formatMomentToSecond(at)}
                    </time>
                  ),
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
                      {sentenceOf(entry, names)}
                      <br />
                      <code className="hint">
                        {entry.action} {entry.host} {entry.path}
                      </code>
                    </>
                  ),
                },
                {
                  name: t.outcome,
                  cell: ({ status }) =>
                    status === null ? (
                      <span className="badge warn">{t.outcomes.unknown}</span>
                    ) : status >= 400 ? (
                      <span className="badge bad">{t.rejected(status)}</span>
                    ) : (
                      t.outcomes.done
                    ),
                },
                {
                  name: t.changes,
                  cell: ({ before, after }) => {
                    const all = differences(before, after);
                    return all.length === 0 ? (
                      <span className="hint">{t.noChanges}</span>
                    ) : (
                      <details open={filters.object !== undefined}>
                        <summary>{t.count(all.length)}</summary>
                        <Differences of={all.slice(0, SHOWN)} />
                      </details>
                    );
                  },
                },
              ]}
            />
          );
        }}
      </Pages>
    </div>
  );
}
