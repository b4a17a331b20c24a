import { differences } from '@perkway/catalogue/differences';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { ApiError, type HttpResponse } from '../api/http';
import type { AuditQuery } from '../api/types';
import { deleteResource, upsertResource, readResourceIfFound, readResource } from '../api/resources';
import { texts } from '../texts';
import { Confirm } from './dialog';
import { Differences } from './differences';
import { TextField } from './fields';
import { Failed, Loading } from './loaded';
import { useNotices } from './notices';
import { Card } from './screen';
import { useSearchFilters } from './search-filters';
import { Tabs } from './tabs';
import { useUnsavedGuard } from './unsaved';
import '../styles/editor.css';

const t = texts.editor;
const History = lazy(() => import('../screens/history'));

interface Props<T, D, B> {
  /** Path of the resource type; the id is appended. */
  path: string;
  /** Null to create a resource. */
  id: string | null;
  idHint?: string;
  /** Makes the id of a new resource from the draft, until one is typed. */
  makeId: (draft: D) => string;
  blank: D;
  toDraft: (stored: T) => D;
  toBody: (draft: D) => B;
  fields: (draft: D, change: (changes: Partial<D>) => void) => ReactNode;
  preview?: (draft: D) => ReactNode;
  canDelete?: boolean;
  onSaved: (id: string) => void;
  onDeleted?: () => void;
}

/** Edits a managed resource, and shows a conflict instead of overwriting somebody else's change. */
export function ResourceEditor<T, D extends object, B extends object>(props: Props<T, D, B>) {
  const { path, id, blank, toDraft, toBody } = props;
  const client = useQueryClient();
  const { say } = useNotices();
  const [draft, setDraft] = useState<D | null>(id === null ? blank : null);
  const [stored, setStored] = useState<HttpResponse<T> | null>(null);
  const [conflict, setConflict] = useState<HttpResponse<T> | null>(null);
  const [typedId, setTypedId] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const unsaved = useUnsavedGuard();
  const { valueOf, set: setTab } = useSearchFilters();
  const addressOf = (one: string) => `${path}/${encodeURIComponent(one)}`;

  const take = (response: HttpResponse<T>) => {
    unsaved.ref.current = false;
    setStored(response);
    setDraft(toDraft(response.body));
    setConflict(null);
    setError(null);
  };
  const load = () => {
    setError(null);
    readResource<T>(addressOf(id!)).then(take, setError);
  };
  useEffect(() => {
    if (id !== null) load();
    // Reload only for another resource: a draft must not be lost.
  }, [path, id]);

  if (!draft) return <Card>{error ? <Failed error={error} retry={load} /> : <Loading lines={8} />}</Card>;

  const newId = id === null ? (typedId ?? props.makeId(draft)) : null;

  const save = async (etag: string | null) => {
    setBusy(true);
    setError(null);
    const target = id ?? newId!.trim();
    try {
      if (id === null && (await readResourceIfFound<T>(addressOf(target)))) throw new Error(t.exists(target));
      const response = await upsertResource<T>(addressOf(target), toBody(draft), etag);
      take(response);
      say(texts.saved);
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(path) });
      props.onSaved(target);
    } catch (refusal) {
      if (refusal instanceof ApiError && refusal.status === 412)
        await readResource<T>(addressOf(target)).then(setConflict, setError);
      else setError(refusal as Error);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save(stored?.etag ?? null);
  };
  const fieldErrors = error instanceof ApiError ? error.fields : [];

  const form = () => (
    <div className={props.preview ? 'editor' : undefined}>
      <Card>
        <form className="form" onSubmit={submit}>
          {id === null && (
            <TextField
              label={t.id}
              value={newId!}
              required
              hint={props.idHint ?? t.idHint}
              onValue={setTypedId}
            />
          )}
          {props.fields(draft, (changes) => {
            unsaved.ref.current = true;
            setDraft({ ...draft, ...changes });
          })}
          {conflict && (
            <div className="wide conflict" role="alert">
              <h2>{t.conflict}</h2>
              <p>{t.conflictText}</p>
              <Differences of={differences(conflict.body, toBody(draft))} />
              <div className="actions">
                <button type="button" className="button" onClick={() => take(conflict)}>
                  {t.takeTheirs}
                </button>
                <button type="button" className="button danger" onClick={() => void save(conflict.etag)}>
                  {t.replace}
                </button>
              </div>
            </div>
          )}
          {error && (
            <div className="wide failed" role="alert">
              {fieldErrors.length === 0 ? (
                <p>{error.message}</p>
              ) : (
                <ul>
                  {fieldErrors.map(({ field, message }) => (
                    <li key={`${field}${message}`}>
                      <code>{field}</code> {message}
                    </li>
                  ))}
                </ul>
              )}
            </div>
          )}
          <div className="actions">
            <button type="submit" className="button main" disabled={isBusy || conflict !== null}>
              {isBusy ? t.saving : texts.save}
            </button>
            {props.canDelete && id !== null && (
              <button type="button" className="button danger" onClick={() => setDeleting(true)}>
                {texts.delete}
              </button>
            )}
          </div>
        </form>
      </Card>
      {props.preview && (
        <section className="stack" aria-label={t.preview}>
          <h2>{t.preview}</h2>
          {props.preview(draft)}
        </section>
      )}
    </div>
  );
  return (
    <>
      {id === null ? (
        form()
      ) : (
        <Tabs
          label={id}
          selected={valueOf('tab') === 'history' ? 'history' : 'edit'}
          onSelect={(tab) => setTab('tab', tab === 'history' ? tab : '')}
          tabs={[
            { id: 'edit', label: texts.edit, content: form },
            {
              id: 'history',
              label: texts.auditLog.history,
              content: () => (
                <Card>
                  <Suspense fallback={<Loading lines={6} />}>
                    <History id={id} kind={path.slice(path.lastIndexOf('/') + 1) as AuditQuery['kind']} />
                  </Suspense>
                </Card>
              ),
            },
          ]}
        />
      )}
      {unsaved.dialog}
      <Confirm
        title={t.deleteTitle}
        text={t.deleteText(id ?? '')}
        action={texts.delete}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await deleteResource(addressOf(id!), stored?.etag ?? null);
          unsaved.ref.current = false;
          say(t.deleted);
          await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(path) });
          props.onDeleted?.();
        }}
      />
    </>
  );
}
