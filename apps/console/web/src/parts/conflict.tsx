import { useId } from 'react';
import { labelOf } from '../field-labels';
import { texts } from '../texts';
import { shownValue } from './differences';
import { isSame, type TheirChange } from './merge-changes';

const t = texts.editor;

/** The names that a form shows for the items of lists. */
export interface ItemNames {
  /** Returns the text of a list item that is an object or an id. */
  textOfItem?: (name: string, item: never) => string;
}

interface Props extends ItemNames {
  /** Labels by path, such as `partner.name`. */
  labels: Readonly<Record<string, string>>;
  /** A sentence on who saved the other version and when; null if unknown. */
  savedBy: string | null;
  /** What only they changed, which is in the form. */
  taken: TheirChange[];
  /** What both changed. */
  clashes: TheirChange[];
  valueOf: (path: string[]) => unknown;
  isDisabled: boolean;
  onChoose: (path: string[], value: unknown) => void;
  onDiscard: () => void;
}

/** Says what somebody else saved in the meantime, and lets the user choose where both changed the same field. */
export function Conflict({ savedBy, taken, clashes, onDiscard, ...props }: Props) {
  return (
    <div className="wide conflict" role="alert" tabIndex={-1}>
      <h2>{t.conflict}</h2>
      {savedBy !== null && <p>{savedBy}</p>}
      <p>{t.conflictText}</p>
      {taken.length > 0 && (
        <p>{t.theirFields([...new Set(taken.map(({ path }) => labelOf(props.labels, path)))])}</p>
      )}
      {clashes.map((clash) => (
        <Clash key={clash.path.join('.')} clash={clash} {...props} />
      ))}
      <div className="actions">
        <button type="button" className="button" onClick={onDiscard}>
          {t.discard}
        </button>
      </div>
    </div>
  );
}

type ClashProps = Omit<Props, 'savedBy' | 'taken' | 'clashes' | 'onDiscard'> & { clash: TheirChange };

function Clash({ clash, labels, textOfItem, valueOf, isDisabled, onChoose }: ClashProps) {
  const id = useId();
  const { path, before, mine, theirs } = clash;
  const lists = [before, mine, theirs].map((value) =>
    Array.isArray(value)
      ? value.map((item) => textOfItem?.(path[0]!, item as never) ?? shownValue(item) ?? '')
      : null,
  );
  /** Shows only the items that are not in all three lists, because lists may be long. */
  const textOf = (value: unknown, list: string[] | null | undefined) => {
    const own = list?.filter((item) => !lists.every((each) => each?.includes(item)));
    return shownValue(own?.length ? own : (list ?? value)) ?? t.empty;
  };
  const chosen = valueOf(path);
  const choice = (value: unknown, text: string) => (
    <label className="check">
      <input type="radio" name={id} checked={isSame(chosen, value)} onChange={() => onChoose(path, value)} />
      <span>{text}</span>
    </label>
  );
  return (
    <fieldset className="stack" disabled={isDisabled}>
      <legend className="legend-label">{labelOf(labels, path)}</legend>
      <p className="hint">{t.before(textOf(before, lists[0]))}</p>
      {choice(mine, t.mine(textOf(mine, lists[1])))}
      {choice(theirs, t.theirs(textOf(theirs, lists[2])))}
    </fieldset>
  );
}
