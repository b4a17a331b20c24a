import type { OutsideReference, Problem } from '@perkway/catalogue';
import { differences, type Difference } from '@perkway/catalogue/differences';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ApiError, saveFile } from '../api/http';
import { ACCOUNTS, CATEGORIES, COLLECTIONS, keyOf, PERKS, type Kind } from '../api/managed';
import { allOf, responseOf, storedIfFound } from '../api/perkway';
import type { Item } from '../import/read-files';
import { Differences } from '../parts/differences';
import { Icon } from '../parts/icon';
import { Failed, Loading } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { texts } from '../texts';
import { ImportProblems } from './import-problems';

const t = texts.catalogue;
const AT_ONCE = 6;
/** Maximum number of attempts to write an item while the host is too busy. */
const ATTEMPTS = 6;
const PAUSE_SECONDS = 2;

interface Compared extends Item {
  state: 'new' | 'changed' | 'same' | 'done' | 'failed';
  differences: Difference[];
  etag: string | null;
  error?: string;
}
const KINDS: Record<Item['kind'], Kind> = {
  categories: CATEGORIES,
  perks: PERKS,
  'perk-collections': COLLECTIONS,
};

async function compare(item: Item): Promise<Compared> {
  const stored = await storedIfFound(KINDS[item.kind].read(item.id));
  const found = differences(stored?.body, item.body);
  const state = !stored ? 'new' : found.length > 0 ? 'changed' : 'same';
  return { ...item, state, differences: found, etag: stored?.etag ?? null };
}

/** Writes an item; while the host is too busy, waits and tries again. */
async function writeItem({ kind, id, body, etag }: Compared): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      await responseOf(KINDS[kind].write(id, body as never, etag ?? undefined));
      return;
    } catch (error) {
      const isBusy = error instanceof ApiError && [429, 503].includes(error.status);
      if (!isBusy || attempt === ATTEMPTS) throw error;
      const seconds = error.retryAfterSeconds ?? PAUSE_SECONDS;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    }
}

const REFERENCED: Record<OutsideReference['kind'], Kind> = {
  account: ACCOUNTS,
  category: CATEGORIES,
  perk: PERKS,
};

/** Returns the references to resources that do not exist. */
async function missing(references: OutsideReference[]): Promise<OutsideReference[]> {
  const nameOf = ({ kind, id }: OutsideReference) => `${kind} ${id}`;
  const named = [...new Map(references.map((reference) => [nameOf(reference), reference]))];
  const found = await inBatches(named, ([, { kind, id }]) =>
    responseOf(REFERENCED[kind].read(String(id))).then(
      () => true,
      (error: unknown) => {
        // 400: an id that no resource can have.
        if (error instanceof ApiError && [400, 404].includes(error.status)) return false;
        throw error;
      },
    ),
  );
  const unknown = new Set(named.filter((_, index) => !found[index]).map(([name]) => name));
  return references.filter((reference) => unknown.has(nameOf(reference)));
}

async function saveTemplate(): Promise<void> {
  const { EXAMPLE_ROW, PERK_COLUMNS } = await import('../import/read-files');
  const lines = [PERK_COLUMNS, PERK_COLUMNS.map((column) => EXAMPLE_ROW[column] ?? '')];
  saveFile('perks.csv', new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' }));
}

async function inBatches<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
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
  const [problems, setProblems] = useState<Problem[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const [isReading, setReading] = useState(false);
  const [isWriting, setWriting] = useState(false);

  const read = async (files: File[]) => {
    setItems(null);
    setProblems([]);
    setError(null);
    if (files.length === 0) return;
    setReading(true);
    try {
      const { readFiles } = await import('../import/read-files');
      const read = await readFiles(files, {
        missing,
        categories: () => allOf(CATEGORIES.list({ limit: 200 })),
        partners: async () => (await allOf(PERKS.list({ limit: 200 }))).map(({ partner }) => partner),
      });
      setItems(await inBatches(read.items, compare));
      setProblems(read.problems);
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
        await writeItem(item);
        results[index] = { ...item, state: 'done' };
      } catch (refusal) {
        results[index] = { ...item, state: 'failed', error: (refusal as Error).message };
      }
      setItems([...results]);
    }
    setWriting(false);
    await Promise.all(
      Object.values(KINDS).map((kind) => client.invalidateQueries({ queryKey: keyOf(kind) })),
    );
    if (results.every(({ state }) => state !== 'failed')) say(t.written);
  };

  const count = (...states: Compared['state'][]) =>
    items?.filter(({ state }) => states.includes(state)).length ?? 0;
  const toWrite = count('new', 'changed');
  const [written, refused] = [count('done'), count('failed')];
  const started = written + refused;

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
          <div className="actions">
            <button type="button" className="button small" onClick={() => void saveTemplate()}>
              <Icon name="download" /> {texts.csvTemplate}
            </button>
          </div>
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
              {problems.length > 0 && ` · ${t.problems(problems.length)}`}
              {started > 0 && ` · ${t.writing(written, started + toWrite)}`}
              {refused > 0 && ` · ${t.refused(refused)}`}
            </p>
            {problems.length > 0 && <ImportProblems problems={problems} />}
            {isWriting && <progress max={started + toWrite} value={started} aria-label={t.import} />}
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
              started === 0 && problems.length === 0 && <p>{t.nothingToWrite}</p>
            )}
          </>
        )}
      </div>
    </Card>
  );
}
