import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { Refusal, type Answer } from '../api/http';
import { deleteStored, putStored, readIfStored, readStored } from '../api/stored';
import { differencesOf } from '../differences';
import { texts } from '../texts';
import { Confirm } from './dialog';
import { Differences } from './differences';
import { TextField } from './fields';
import { Failed, Loading } from './loaded';
import { useNotices } from './notices';
import { Card } from './screen';
import '../styles/editor.css';

const t = texts.editor;

interface Props<T, D, B> {
  /** Of the kind; the id comes behind it. */
  path: string;
  /** Null to make a new one. */
  id: string | null;
  idHint?: string;
  /** A new one gets this id unless the person writes another. */
  suggestedId?: string;
  blank: D;
  toDraft: (stored: T) => D;
  toBody: (draft: D) => B;
  fields: (draft: D, change: (changes: Partial<D>) => void) => ReactNode;
  preview?: (draft: D) => ReactNode;
  canDelete?: boolean;
  onSaved: (id: string) => void;
  onDeleted?: () => void;
}

/** Reads, edits and writes one of what operators manage, so that nobody overwrites what somebody else has changed meanwhile. */
export function StoredEditor<T, D extends object, B extends object>(props: Props<T, D, B>) {
  const { path, id, blank, toDraft, toBody } = props;
  const client = useQueryClient();
  const { say } = useNotices();
  const [draft, setDraft] = useState<D | null>(id === null ? blank : null);
  const [stored, setStored] = useState<Answer<T> | null>(null);
  const [conflict, setConflict] = useState<Answer<T> | null>(null);
  const [newId, setNewId] = useState(props.suggestedId ?? '');
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const addressOf = (one: string) => `${path}/${encodeURIComponent(one)}`;

  const take = (answer: Answer<T>) => {
    setStored(answer);
    setDraft(toDraft(answer.body));
    setConflict(null);
    setError(null);
  };
  const load = () => {
    setError(null);
    readStored<T>(addressOf(id!)).then(take, setError);
  };
  useEffect(() => {
    if (id !== null) load();
    // Only another thing to edit is read again: what is being written must not be lost.
  }, [path, id]);

  if (!draft) return <Card>{error ? <Failed error={error} retry={load} /> : <Loading lines={8} />}</Card>;

  const save = async (etag: string | null) => {
    setBusy(true);
    setError(null);
    const target = id ?? newId.trim();
    try {
      if (id === null && (await readIfStored<T>(addressOf(target)))) throw new Error(t.exists(target));
      const answer = await putStored<T>(addressOf(target), toBody(draft), etag);
      take(answer);
      say(texts.saved);
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(path) });
      props.onSaved(target);
    } catch (refusal) {
      if (refusal instanceof Refusal && refusal.status === 412)
        await readStored<T>(addressOf(target)).then(setConflict, setError);
      else setError(refusal as Error);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save(stored?.etag ?? null);
  };
  const fieldErrors = error instanceof Refusal ? error.fields : [];

  return (
    <div className={props.preview ? 'editor' : undefined}>
      <Card>
        <form className="form" onSubmit={submit}>
          {id === null && (
            <TextField
              label={t.id}
              value={newId}
              required
              hint={props.idHint ?? t.idHint}
              onValue={setNewId}
            />
          )}
          {props.fields(draft, (changes) => setDraft({ ...draft, ...changes }))}
          {conflict && (
            <div className="wide conflict" role="alert">
              <h2>{t.conflict}</h2>
              <p>{t.conflictText}</p>
              <Differences of={differencesOf(conflict.body, toBody(draft))} />
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
              <p>{error.message}</p>
              {fieldErrors.length > 0 && (
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
      <Confirm
        title={t.deleteTitle}
        text={t.deleteText(id ?? '')}
        action={texts.delete}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await deleteStored(addressOf(id!), stored?.etag ?? null);
          say(t.deleted);
          await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(path) });
          props.onDeleted?.();
        }}
      />
    </div>
  );
}
