import { slugOf } from '@perkway/domain/slug';
import { differences } from '@perkway/catalogue/differences';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { actorOf } from '../api/audit-log';
import { get, type Page } from '../api/http';
import { usePerks } from '../api/perks-by-id';
import {
  ACCOUNTS,
  CAMPAIGNS,
  CATEGORIES,
  COLLECTIONS,
  LIMITS,
  pathOf,
  PERKS,
  POOLS,
  useAll,
} from '../api/managed';
import { poolName, usePools } from '../api/pools';
import { pathOfLink } from '../api/reward-links';
import { useSession } from '../api/session';
import type { AuditEntry, AuditQuery, Session } from '../api/types';
import { actionOf, runsOf } from '../audit-runs';
import { labelsOf } from '../field-labels';
import { formatExactMoment, formatMomentToSecond, formatNumber } from '../format';
import { useAccountNames } from '../parts/account-field';
import { CsvButton } from '../parts/csv-button';
import { Differences } from '../parts/differences';
import { Empty } from '../parts/loaded';
import { Pages } from '../parts/pages';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.auditLog;
const SHOWN = 40;
const CSV_HEAD = ['at', 'by', 'account', 'what', 'call', 'outcome'];

type State = Record<string, unknown> | null;

/** The name of a managed resource in a state of it. */
function nameIn(state: State): string | undefined {
  const { title, name, product } = (state ?? {}) as { title?: unknown; name?: unknown; product?: State };
  const found = title ?? name ?? product?.name;
  return typeof found === 'string' && found ? found : undefined;
}

/** A first save has no state before. A state that could not be read is missing, too, but then the times differ. */
const isNew = ({ before, after }: AuditEntry) => before === null && after?.created_at === after?.updated_at;

/** Whether the change gives a person the rights of an operator. */
const isOfOperator = ({ path, after }: AuditEntry) =>
  /\/people\/[^/]+$/.test(path) && after?.role === 'ADMIN';

interface Words {
  sentence: string;
  /** What entries of a run have in common. */
  action: string;
}

/** Describes a change in words, with the name of the object where one of the entries has it. */
function wordsOf(entry: AuditEntry, names: ReadonlyMap<string, string>): Words | undefined {
  const { action, path } = entry;
  const call = `${action} ${path.replaceAll('%40', '@')}`;
  const [pattern, sentence] = t.done.find(([known]) => known.test(call)) ?? [];
  if (!pattern) return undefined;
  const object = objectOf(path);
  // A renamed object is called what it was called then.
  const name =
    (object?.isWhole ? (nameIn(entry.after) ?? nameIn(entry.before)) : undefined) ??
    names.get(object?.key ?? '');
  const saved =
    action === 'PUT' ? sentence!.replace(/^Saved/, isNew(entry) ? t.created : t.changed) : sentence!;
  const text = isOfOperator(entry) ? t.asOperator(saved) : saved;
  const done = call.replace(pattern, name ? text.replace('$1', () => name.replaceAll('$', '$$$$')) : text);
  const isRejected = (entry.status ?? 0) >= 400;
  const asTried = (words: string) => (isRejected ? t.attempt(words) : words);
  return { sentence: asTried(done), action: asTried(actionOf(text, done)) };
}

const KINDS = [ACCOUNTS, CAMPAIGNS, CATEGORIES, COLLECTIONS, LIMITS, PERKS, POOLS];
/** Returns the URL of the object's screen; undefined if the session has none for it, or the object was deleted or never created. */
function screenOf(entry: AuditEntry, session: Session): string | undefined {
  const { action, path, account_id, status, before } = entry;
  if ((status ?? 0) >= 400 && before === null) return undefined;
  const [, name, id] = /\/([a-z-]+)\/([^/]+)/.exec(path.replace(/^\/admin(?=\/)/, '')) ?? [];
  if (!id || (action === 'DELETE' && path.endsWith(`/${name}/${id}`))) return undefined;
  const own: Record<string, string> = {
    webhooks: `/integration/webhooks/${id}`,
    'reward-links': pathOfLink(id),
  };
  if (session.accountId === account_id && own[name!]) return own[name!];
  const kind = KINDS.find((one) => one.name === name);
  return kind && session.role === 'ADMIN' ? `${kind.path}/${id}` : undefined;
}

/** The object that a path names or begins with: its kind and id as one key, and whether the path names nothing else. */
function objectOf(path: string): { key: string; isWhole: boolean } | undefined {
  const [matched, kind, id] = /^\/(?:admin\/)?([a-z-]+)\/([^/]+)/.exec(path) ?? [];
  return id === undefined
    ? undefined
    : { key: keyOfObject(kind === 'pool' ? 'pools' : kind!, id), isWhole: path === matched };
}
const keyOfObject = (kind: string, id: string) => `${kind}/${id}`;

/** The latest names of objects in these entries, newest first. */
function namesIn(entries: AuditEntry[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { path, before, after } of entries) {
    const object = objectOf(path);
    const name = nameIn(after) ?? nameIn(before);
    if (object?.isWhole && name && !names.has(object.key)) names.set(object.key, name);
  }
  return names;
}

const callOf = ({ action, host, path }: AuditEntry) => `${action} ${host} ${path}`;
const outcomeOf = ({ action, status }: AuditEntry) =>
  status === null ? t.outcomes.unknown : status >= 400 ? t.rejected(action, status) : t.outcomes.done;

/** The account that the entry is about, if it is about one. @param ownerOf finds that of an object without states */
function accountOf({ path, before, after, account_id }: AuditEntry, ownerOf: ReadonlyMap<string, string>) {
  const account = /\/accounts\/([^/]+)/.exec(path)?.[1] ?? after?.owner ?? before?.owner;
  if (typeof account === 'string') return account;
  // Other calls than those of operators are about the caller's own account.
  return path.startsWith('/admin/') ? ownerOf.get(objectOf(path)?.key ?? '') : account_id;
}

/** The form's labels of the members that the call changes. */
const labelsIn = ({ path }: AuditEntry) => labelsOf(/^\/(?:admin\/)?([a-z-]+)/.exec(path)?.[1] ?? '');

/** Begins open or closed. Stays as it is when a newer entry arrives. */
function Details({ isOpen, children }: { isOpen: boolean; children: ReactNode }) {
  const [isOpenAtFirst] = useState(isOpen);
  return <details open={isOpenAtFirst}>{children}</details>;
}

/** Keeps a name on one line. Its end may be cut off, so the entry's details or the link have it in full. */
const ShortName = ({ children }: { children: string }) => (
  <span className="short-name" title={children}>
    {children}
  </span>
);

/** An entry, or a run of entries, of which `entry` is the newest. */
interface Row {
  entry: AuditEntry;
  run: { title: string; count: number } | null;
}

const isOfErasure = ({ path }: AuditEntry) => path.endsWith('/erasures');

/** Returns what the call changed. Leaves out the progress of an erasure: at the request it is always "running". */
function changesOf(entry: AuditEntry) {
  const all = differences(entry.before, entry.after);
  return isOfErasure(entry) ? all.filter(({ at }) => at !== 'state' && !at.startsWith('parts.')) : all;
}

/** Whether the entry has the whole object as it was before the change. */
const hasVersionBefore = ({ path, status, before }: AuditEntry) =>
  objectOf(path)?.isWhole && before?.id !== undefined && status !== null && status < 400;

interface Props {
  caption: string;
  filters: AuditQuery;
  /** For the entries of one object: puts its version before the change into the form. */
  onRestore?: (entry: AuditEntry) => void;
}

/** Lists the entries of the audit log that match, newest first. Runs of the same action are one row that opens. */
export function AuditEntries({ caption, filters, onRestore }: Props) {
  const log = useInfiniteQuery({
    queryKey: ['audit-log', filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      get<Page<AuditEntry>>('/api/audit-log', { ...filters, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    staleTime: 0,
  });
  const session = useSession();
  const loaded = log.data?.pages.flatMap(({ data }) => data) ?? [];
  const names = namesIn(loaded);
  const isOperator = session.role === 'ADMIN';
  // A load of codes has no states, so its entries lack the title of the perk.
  const perks = usePerks(
    isOperator
      ? loaded
          .flatMap(({ path }) => /\/admin\/perks\/([^/]+)\//.exec(path)?.[1] ?? [])
          .filter((id) => !names.has(keyOfObject('perks', id)))
      : [],
  );
  for (const [id, { title }] of perks) names.set(keyOfObject('perks', id), title);
  const needsPools = loaded.some(({ path }) => objectOf(path)?.key.startsWith('pools/'));
  const own = usePools(needsPools && !isOperator).data;
  const all = useAll(POOLS, needsPools && isOperator).data;
  for (const pool of all ?? own ?? []) names.set(keyOfObject('pools', pool.id), poolName(pool));
  const owners = new Map(all?.map(({ id, owner }) => [keyOfObject('pools', id), owner]));
  const accountName = useAccountNames(isOperator);
  for (const { path } of loaded) {
    const id = /\/accounts\/([^/]+)/.exec(path)?.[1];
    if (id) names.set(keyOfObject('accounts', id), accountName(id));
  }
  /** Ids of the newest entries of runs that are open. */
  const [opened, setOpened] = useState<readonly string[]>([]);
  // In the history of an object, entries do not name their account, and the newest shows what changed.
  const isOfObject = filters.object !== undefined;
  return (
    <div className="stack entries">
      <Pages
        query={log}
        empty={<Empty title={Object.values(filters).some(Boolean) ? t.emptyTitle : t.emptyUnfiltered} />}
      >
        {(entries) => {
          const words = new Map(entries.map((entry) => [entry.id, wordsOf(entry, names)]));
          const runs = runsOf(
            entries,
            ({ id }) => (isOfObject ? undefined : words.get(id)?.action),
            (entry) => accountOf(entry, owners),
          );
          const rows = runs.flatMap(({ title, entries: of }): Row[] => {
            const single = of.map((entry) => ({ entry, run: null }));
            if (title === null) return single;
            const head = { entry: of[0]!, run: { title, count: of.length } };
            return opened.includes(of[0]!.id) ? [head, ...single] : [head];
          });
          const toggle = (id: string) =>
            setOpened(opened.includes(id) ? opened.filter((one) => one !== id) : [...opened, id]);
          return (
            <>
              <div className="actions">
                <CsvButton
                  label={t.csv}
                  name={`${slugOf(caption)}.csv`}
                  head={CSV_HEAD}
                  rows={entries.map((entry) => [
                    entry.at,
                    actorOf(entry),
                    accountOf(entry, owners) ?? '',
                    words.get(entry.id)?.sentence ?? '',
                    callOf(entry),
                    outcomeOf(entry),
                  ])}
                />
              </div>
              <Table
                caption={caption}
                rows={rows}
                keyOf={({ entry, run }) => `${entry.id}${run ? ' run' : ''}`}
                columns={[
                  {
                    name: t.when,
                    isHead: true,
                    cell: ({ entry: { at } }) => (
                      <time className="nowrap" dateTime={at}>
                        {formatExactMoment(at)}
                      </time>
                    ),
                  },
                  {
                    name: t.who,
                    cell: ({ entry }) => <ShortName>{actorOf(entry)}</ShortName>,
                  },
                  // Others see only entries of their own account.
                  ...(isOperator && !isOfObject
                    ? [
                        {
                          name: texts.editor.owner,
                          cell: ({ entry }: Row) => {
                            const account = accountOf(entry, owners);
                            if (account === undefined) return texts.none;
                            return (
                              <Link to={pathOf(ACCOUNTS, account)}>
                                <ShortName>{accountName(account)}</ShortName>
                              </Link>
                            );
                          },
                        },
                      ]
                    : []),
                  {
                    name: t.what,
                    cell: ({ entry, run }) => {
                      const sentence = words.get(entry.id)?.sentence ?? callOf(entry);
                      const to = screenOf(entry, session);
                      return (
                        <>
                          {run ? (
                            <button
                              type="button"
                              className="link-button"
                              aria-expanded={opened.includes(entry.id)}
                              onClick={() => toggle(entry.id)}
                            >
                              {t.times(run.title, formatNumber(run.count))}
                            </button>
                          ) : to ? (
                            <Link to={to}>{sentence}</Link>
                          ) : (
                            sentence
                          )}{' '}
                          {entry.status === null ? (
                            <span className="badge warn">{outcomeOf(entry)}</span>
                          ) : (
                            entry.status >= 400 && (
                              <span className="badge bad long">
                                {run ? t.outcomes.rejected : outcomeOf(entry)}
                              </span>
                            )
                          )}
                        </>
                      );
                    },
                  },
                  {
                    name: t.changes,
                    cell: ({ entry, run }) => {
                      if (run) return null;
                      const { before, after } = entry;
                      const status = entry.status ?? 0;
                      // A failed call has its error instead of a state after it.
                      const all = status >= 400 ? [] : changesOf(entry);
                      // A card load that fails keeps the rows before.
                      const isRejected = status >= 400 && status < 500 && !entry.path.endsWith('/cards');
                      const none =
                        status < 400 && before !== null && after !== null ? t.noDifference : t.notRecorded;
                      const receipt = isOfErasure(entry) ? after?.id : undefined;
                      return (
                        <Details isOpen={isOfObject && entry.id === entries[0]!.id}>
                          <summary className="nowrap">
                            {isRejected ? t.nothingChanged : all.length === 0 ? none : t.count(all.length)}
                          </summary>
                          <p className="hint">
                            {actorOf(entry)}, {formatMomentToSecond(entry.at)}
                          </p>
                          <code className="hint">{callOf(entry)}</code>
                          {typeof receipt === 'string' && (
                            <p className="hint">
                              {texts.erasures.receipt} <code>{receipt}</code>
                            </p>
                          )}
                          <Differences of={all.slice(0, SHOWN)} labels={labelsIn(entry)} />
                          {onRestore && hasVersionBefore(entry) && (
                            <button
                              type="button"
                              className="button small"
                              aria-label={`${t.restore}: ${formatMomentToSecond(entry.at)}`}
                              onClick={() => onRestore(entry)}
                            >
                              {t.restore}
                            </button>
                          )}
                        </Details>
                      );
                    },
                  },
                ]}
              />
            </>
          );
        }}
      </Pages>
    </div>
  );
}
