import type { Shape } from '@perkway/catalogue/shapes';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { savedBy } from '../api/audit-log';
import { ApiError } from '../api/http';
import { keyOf, type Kind, type Query } from '../api/managed';
import { responseOf, storedIfFound, storedOf, type Stored } from '../api/perkway';
import type { AuditEntry } from '../api/types';
import { labelsOf } from '../field-labels';
import { capitalized, formatMoment } from '../format';
import { texts } from '../texts';
import { Conflict, type ItemNames } from './conflict';
import { Confirm } from './dialog';
import { TextField } from './fields';
import { lazy } from './lazy';
import { Empty, Failed, Loading } from './loaded';
import { isSame, theirChanges, valueAt, withValue, type TheirChange } from './merge-changes';
import { useNotices } from './notices';
import { Card } from './screen';
import { useSearchFilters } from './search-filters';
import { Tabs } from './tabs';
import { useUnsavedGuard } from './unsaved';
import { useAction } from './use-action';
import '../styles/editor.css';

const t = texts.editor;
const History = lazy(() => import('../screens/history'), <Loading lines={6} />);
const YamlField = lazy(() => import('./yaml-field'), <Loading lines={8} />);

export interface EditorProps {
  /** Null to create a resource. */
  id: string | null;
  onSaved: (id: string) => void;
  onDeleted?: () => void;
  /** Called if there is no such resource. */
  onMissing?: () => void;
  /** Gets the stored name each time that the resource is read or saved. */
  onNamed?: (name: string) => void;
}

/** Returns the error of a field such as `partner.name`, or of a part of it. */
export type ErrorOf = (field: string) => string | null;

interface Props<T, D, B> extends EditorProps, ItemNames {
  kind: Kind<T, B>;
  idHint?: string;
  nameOf?: (stored: T) => string;
  /** Makes the id of a new resource from the draft, until one is typed. */
  makeId: (draft: D) => string;
  blank: D;
  toDraft: (stored: T) => D;
  toBody: (draft: D) => B;
  fields: (draft: D, change: (changes: Partial<D>) => void, errorOf: ErrorOf) => ReactNode;
  preview?: (draft: D) => ReactNode;
  /** The members of the body, for kinds that can also be edited as YAML. `toDraft` then accepts a body too. */
  shape?: Shape;
  /** What uses a stored resource, which is shown before it is deleted. */
  usedIn?: (stored: T) => ReactNode;
  /** Finds the resources that block the deletion. */
  blockedBy?: (stored: T) => { kind: Kind; query: Query };
  /** Returns why a stored resource can never be deleted, or null. */
  keptBecause?: (stored: T) => string | null;
  /** For kinds with members that the audit log leaves out: takes them from the form, and says so. */
  unlogged?: { keep: (earlier: D, latest: D | null) => D; note: (draft: D) => string | null };
  /** Shown below the form of a stored resource. */
  below?: (stored: T) => ReactNode;
}

/** YAML as typed. */
interface Yaml {
  text: string;
  /** The error in the text. The draft does not change until it is corrected. */
  problem: string | null;
}

const isTakenOver = ({ before, mine }: TheirChange) => isSame(before, mine);
const isMissing = (error: Error | null) => error instanceof ApiError && error.status === 404;

/** Edits a managed resource, and merges somebody else's change instead of overwriting it. */
export function ResourceEditor<T, D extends object, B extends object>(props: Props<T, D, B>) {
  const { kind, id, toDraft, toBody, shape } = props;
  const { valueOf, set: setTab } = useSearchFilters();
  /** The link may name the account. */
  const blank = { ...props.blank, ...(kind.isOwned && { owner: valueOf('owner') }) };
  const client = useQueryClient();
  const { say } = useNotices();
  const [draft, setDraft] = useState<D | null>(id === null ? blank : null);
  const [yaml, setYaml] = useState<Yaml | null>(null);
  const [stored, setStored] = useState<Stored<T> | null>(null);
  /** What somebody else changed before the user could save. */
  const [conflict, setConflict] = useState<{ changes: TheirChange[]; savedBy: string | null } | null>(null);
  /** The entry of the history whose earlier version is in the form. */
  const [restored, setRestored] = useState<AuditEntry | null>(null);
  /** Whether the note about the restored version gets the focus once its tab is shown. */
  const takesFocus = useRef(false);
  /** The entry to restore once the user confirms that it replaces unsaved changes. */
  const [replacing, setReplacing] = useState<AuditEntry | null>(null);
  const [typedId, setTypedId] = useState<string | null>(null);
  const [loadError, setLoadError] = useState<Error | null>(null);
  /** Members changed in the form since the last attempt to save: their errors are no longer shown. */
  const [corrected, setCorrected] = useState<string[]>([]);
  const [isDeleting, setDeleting] = useState(false);
  const [hasBlocker, setHasBlocker] = useState(false);
  const unsaved = useUnsavedGuard();
  const form = useRef<HTMLFormElement>(null);

  const take = (taken: Stored<T>) => {
    unsaved.isDirty.current = false;
    setStored(taken);
    if (props.nameOf) props.onNamed?.(props.nameOf(taken.body));
    setDraft(toDraft(taken.body));
    setYaml(null);
    setConflict(null);
    setRestored(null);
  };
  /** Applies the other person's changes to the draft, for the user to check and save. Where both changed, the user's stay. */
  const merge = (target: string, theirs: Stored<T>) => {
    const changes = theirChanges(toDraft(stored!.body), draft, toDraft(theirs.body));
    setStored(theirs);
    if (props.nameOf) props.onNamed?.(props.nameOf(theirs.body));
    setYaml(null);
    // The user may have typed while the request was running.
    setDraft(
      (latest) =>
        changes
          .filter(isTakenOver)
          .reduce<unknown>((merged, { path, theirs: value }) => withValue(merged, path, value), latest) as D,
    );
    setRestored(null);
    const found = { changes, savedBy: null };
    setConflict(found);
    void savedBy(kind.name, target, theirs.body as { updated_at?: string }).then((sentence) =>
      // Unless the conflict was settled, or another came, in the meantime.
      setConflict((latest) => (latest === found ? { changes, savedBy: sentence } : latest)),
    );
  };
  const load = () => {
    setLoadError(null);
    storedOf(kind.read(id!)).then(take, (error: Error) => {
      setLoadError(error);
      if (isMissing(error)) props.onMissing?.();
    });
  };
  const newId = id === null ? (typedId ?? (draft ? props.makeId(draft) : '')) : null;
  const saving = useAction(async () => {
    setCorrected([]);
    const target = id ?? newId!.trim();
    if (!stored && (await storedIfFound(kind.read(target)))) throw new Error(t.exists(target));
    try {
      take(await storedOf(kind.write(target, toBody(draft!), stored?.etag ?? undefined)));
    } catch (refusal) {
      if (!(refusal instanceof ApiError && refusal.status === 412)) throw refusal;
      merge(target, await storedOf(kind.read(target)));
      return;
    }
    say(texts.saved);
    await client.invalidateQueries({ queryKey: keyOf(kind) });
    props.onSaved(target);
  });
  const { error } = saving;
  useEffect(() => {
    if (id !== null) load();
    // Reload only for another resource: a draft must not be lost.
  }, [kind, id]);
  // The error may be scrolled out of view. An invalid field takes precedence over the summary.
  useEffect(() => {
    const wrong = ['[aria-invalid]', '.failed[role=alert]', '[role=alert]'].map((each) =>
      form.current?.querySelector<HTMLElement>(each),
    );
    wrong.find(Boolean)?.focus();
  }, [error, conflict?.changes]);

  const edit = (changed: D, asYaml: Yaml | null) => {
    unsaved.isDirty.current = true;
    setDraft(changed);
    setYaml(asYaml);
  };
  const restore = (entry: AuditEntry) => {
    const earlier = toDraft(entry.before as T);
    edit(props.unlogged?.keep(earlier, draft) ?? earlier, null);
    setConflict(null);
    saving.clear();
    setRestored(entry);
    takesFocus.current = true;
    setTab('tab', '');
  };
  const history = () => (
    <Card>
      <History
        id={id!}
        kind={kind.name}
        onRestore={(entry) => (unsaved.isDirty.current ? setReplacing(entry) : restore(entry))}
      />
    </Card>
  );
  if (!draft && isMissing(loadError))
    return (
      <>
        <Empty title={t.missing}>
          <p>{t.missingText}</p>
        </Empty>
        {history()}
      </>
    );
  if (!draft)
    return <Card>{loadError ? <Failed error={loadError} retry={load} /> : <Loading lines={8} />}</Card>;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void saving.run();
  };
  const rejected = error instanceof ApiError ? error.fields : [];
  const fieldErrors = rejected.filter(({ field }) => !corrected.includes(field.split('.')[0]!));
  const errorOf: ErrorOf = (name) => {
    const found = fieldErrors.find(({ field }) => field === name || field.startsWith(`${name}.`));
    return found ? capitalized(found.message) : null;
  };
  const discard = () => {
    take(stored!);
    // The button that was pressed is gone, and Save may still be disabled.
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[type=submit]')?.focus());
  };

  const change = (changes: Partial<D>) => {
    edit({ ...draft, ...changes }, null);
    setCorrected([...corrected, ...Object.keys(changes)]);
  };

  const fields = () =>
    yaml?.problem ? <p className="wide callout">{t.brokenYaml}</p> : props.fields(draft, change, errorOf);
  const yamlField = () => (
    <YamlField
      body={toBody(draft)}
      shape={shape!}
      typed={yaml}
      onTyped={(text, body, problem) => edit(body ? toDraft(body as unknown as T) : draft, { text, problem })}
    />
  );
  const unloggedNote = props.unlogged?.note(draft);
  const usedIn = stored && props.usedIn?.(stored.body);
  const kept = (stored && props.keptBecause?.(stored.body)) ?? null;
  const isBlocked = kept !== null || hasBlocker;
  const startDeleting = async () => {
    const blocker = stored && props.blockedBy?.(stored.body);
    // If this cannot be read, the host decides.
    const found = blocker && (await blocker.kind.list({ ...blocker.query, limit: 1 }).catch(() => null));
    setHasBlocker(Boolean(found?.data.length));
    setDeleting(true);
  };
  const editor = (content: () => ReactNode) => () => (
    <div className={props.preview ? 'editor' : undefined}>
      <Card>
        <form
          ref={form}
          className="form"
          onSubmit={submit}
          // A browser scrolls only the line of the cursor into view; the sticky buttons could cover the rest.
          onFocus={({ target }) => {
            if (target instanceof HTMLTextAreaElement)
              target.closest('.field')?.scrollIntoView({ block: 'nearest' });
          }}
        >
          {restored && (
            <div
              className="wide callout restored"
              tabIndex={-1}
              ref={(note) => {
                if (takesFocus.current) note?.focus();
                if (note) takesFocus.current = false;
              }}
            >
              <p>{t.restored(formatMoment(restored.at))}</p>
              {unloggedNote && <p>{unloggedNote}</p>}
              {stored && (
                <div className="actions">
                  <button type="button" className="button" onClick={discard}>
                    {t.discard}
                  </button>
                </div>
              )}
            </div>
          )}
          {content()}
          {id === null && (
            <TextField
              label={t.id}
              value={newId!}
              required
              className="wide"
              hint={props.idHint ?? t.idHint}
              onValue={setTypedId}
            />
          )}
          {conflict && (
            <Conflict
              labels={labelsOf(kind.name)}
              textOfItem={props.textOfItem}
              savedBy={conflict.savedBy}
              taken={conflict.changes.filter(isTakenOver)}
              clashes={conflict.changes.filter((each) => !isTakenOver(each))}
              valueOf={(path) => valueAt(draft, path)}
              isDisabled={Boolean(yaml?.problem)}
              onChoose={(path, value) => edit(withValue(draft, path, value) as D, null)}
              onDiscard={discard}
            />
          )}
          {error && (rejected.length === 0 || fieldErrors.length > 0) && (
            <div className="wide failed" role="alert" tabIndex={-1}>
              {rejected.length === 0 ? (
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
          <div className="actions form-end">
            <button type="submit" className="button main" disabled={saving.isBusy || Boolean(yaml?.problem)}>
              {saving.isBusy ? t.saving : texts.save}
            </button>
            {kind.remove && id !== null && stored && (
              <button type="button" className="button danger" onClick={() => void startDeleting()}>
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
  const tabs = [
    { id: 'edit', label: texts.edit, content: editor(fields) },
    ...(shape ? [{ id: 'yaml', label: t.yaml, content: editor(yamlField) }] : []),
    ...(id === null ? [] : [{ id: 'history', label: texts.auditLog.history, content: history }]),
  ];
  return (
    <>
      {tabs.length === 1 ? (
        tabs[0]!.content()
      ) : (
        <Tabs
          label={id ?? texts.edit}
          selected={tabs.find((tab) => tab.id === valueOf('tab'))?.id ?? 'edit'}
          onSelect={(tab) => setTab('tab', tab === 'edit' ? '' : tab)}
          tabs={tabs}
        />
      )}
      {stored && props.below?.(stored.body)}
      {usedIn && <Card title={t.usedIn}>{usedIn}</Card>}
      {unsaved.dialog}
      <Confirm
        title={t.restoreTitle}
        text={t.restoreText}
        action={t.replace}
        isOpen={replacing !== null}
        onClose={() => setReplacing(null)}
        onConfirm={async () => restore(replacing!)}
      />
      <Confirm
        title={(isBlocked ? t.blockedTitle : t.deleteTitle)(stored ? kind.nameOf(stored.body) : '')}
        text={isBlocked ? (kept ?? t.blockedText) : t.deleteText(id ?? '')}
        action={isBlocked ? null : texts.delete}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        children={usedIn}
        onConfirm={async () => {
          await responseOf(kind.remove!(id!, stored?.etag ?? undefined));
          unsaved.isDirty.current = false;
          say(t.deleted);
          await client.invalidateQueries({ queryKey: keyOf(kind) });
          props.onDeleted?.();
        }}
      />
    </>
  );
}
