import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { upsertResource, readResourceIfFound } from '../api/resources';
import { differencesOf, type Difference } from '../differences';
import type { Item } from '../import/read-files';
import { Differences } from '../parts/differences';
import { Failed, Loading } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { texts } from '../texts';
import { CATALOGUE } from './catalogue';

const t = texts.catalogue;
const AT_ONCE = 6;

interface Compared extends Item {
  state: 'new' | 'changed' | 'same' | 'done' | 'failed';
  differences: Difference[];
  etag: string | null;
  error?: string;
}
const pathOf = ({ kind, id }: Item) => `${CATALOGUE}/${kind}/${encodeURIComponent(id)}`;

/** Makes a file comparable with what the host stores: groups sorted by rank, with the ids that the host derived. */
function comparable(item: Item, stored: unknown): unknown {
  if (item.kind !== 'perk-collections') return item.body;
  const ids = (stored as { groups?: { id: string }[] } | undefined)?.groups ?? [];
  const byRank = <T extends { rank?: number }>(list: unknown) =>
    Array.isArray(list) ? (list as T[]).toSorted((one, other) => Number(one.rank) - Number(other.rank)) : [];
  return {
    ...item.body,
    groups: byRank<{ rank?: number; perks?: unknown }>(item.body.groups).map((group, index) => ({
      id: ids[index]?.id,
      ...group,
      perks: byRank(group.perks),
    })),
  };
}

async function compare(item: Item): Promise<Compared> {
  const stored = await readResourceIfFound(pathOf(item));
  // The host stores false where a file omits `is_coupon_perk`.
  const differences = differencesOf(stored?.body, comparable(item, stored?.body)).filter(
    ({ at, before, after }) => !(at === 'is_coupon_perk' && before === 'false' && after === null),
  );
  const state = !stored ? 'new' : differences.length > 0 ? 'changed' : 'same';
  return { ...item, state, differences, etag: stored?.etag ?? null };
}

async function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  return results;
}

export default function CatalogueImport() {
  const client = useQueryClient();
  const { say } = useNotices();
  const inputId = useId();
  const [items, setItems] = useState<Compared[] | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isReading, setReading] = useState(false);
  const [isWriting, setWriting] = useState(false);

  const read = async (files: File[]) => {
    setItems(null);
    setError(null);
    if (files.length === 0) return;
    setReading(true);
    try {
      const { readFiles } = await import('../import/read-files');
      setItems(await inTurns(await readFiles(files), compare));
    } catch (reason) {
      setError(reason as Error);
    } finally {
      setReading(false);
    }
  };

  const write = async (list: Compared[]) => {
    setWriting(true);
    const results = [...list];
    for (const [index, item] of list.entries()) {
      if (item.state !== 'new' && item.state !== 'changed') continue;
      try {
        await upsertResource(pathOf(item), item.body, item.etag);
        results[index] = { ...item, state: 'done' };
      } catch (refusal) {
        results[index] = { ...item, state: 'failed', error: (refusal as Error).message };
      }
      setItems([...results]);
    }
    setWriting(false);
    await client.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith(CATALOGUE),
    });
    if (results.every(({ state }) => state !== 'failed')) say(t.written);
  };

  const count = (...states: Compared['state'][]) =>
    items?.filter(({ state }) => states.includes(state)).length ?? 0;
  const toWrite = count('new', 'changed');
  const written = count('done', 'failed');

  return (
    <Card title={t.import}>
      <div className="stack">
        <p>{t.importText}</p>
        <div className="field">
          <label htmlFor={inputId}>{t.file}</label>
          <input
            id={inputId}
            type="file"
            multiple
            accept=".yaml,.yml,.csv"
            disabled={isWriting}
            onChange={({ target }) => void read([...(target.files ?? [])])}
          />
          <p className="hint">{t.fileHint}</p>
        </div>
        {error && <Failed error={error} />}
        {isReading && (
          <>
            <p>{t.reading}</p>
            <Loading />
          </>
        )}
        {items && (
          <>
            <p role="status">
              <strong>{t.summary(count('new'), count('changed'), count('same'))}</strong>
              {written > 0 && ` · ${t.writing(written, written + toWrite)}`}
            </p>
            {isWriting && <progress max={written + toWrite} value={written} aria-label={t.import} />}
            <ul>
              {items.map((item) => (
                <li key={`${item.kind}/${item.id}`} className="import-item stack" data-state={item.state}>
                  <span>
                    <span
                      className={`badge ${{ new: '', changed: 'warn', same: 'plain', done: '', failed: 'bad' }[item.state]}`}
                    >
                      {t.states[item.state]}
                    </span>{' '}
                    {t.kinds[item.kind]} <code>{item.id}</code>
                  </span>
                  {item.error && <p className="field-error">{item.error}</p>}
                  {item.state === 'changed' && <Differences of={item.differences} />}
                  {item.state === 'new' && (
                    <details>
                      <summary>{t.differencesOf}</summary>
                      <Differences of={item.differences} />
                    </details>
                  )}
                </li>
              ))}
            </ul>
            {toWrite > 0 ? (
              <button
                type="button"
                className="button main"
                disabled={isWriting}
                onClick={() => void write(items)}
              >
                {t.write(toWrite)}
              </button>
            ) : (
              written === 0 && <p>{t.nothingToWrite}</p>
            )}
          </>
        )}
      </div>
    </Card>
  );
}
