import { useEffect, useId, useState } from 'react';
import type { Kind } from '../api/managed';
import { texts } from '../texts';
import { TextField } from './fields';

const t = texts.editor;

interface Props<T> {
  label: string;
  kind: Kind<T>;
  /** The resources to choose from; undefined until they are loaded. */
  of: T[] | undefined;
  /** Whether there are more resources than these, so that a text may be the id of another one. */
  isPartial?: boolean;
  value: string;
  error?: string | null;
  hint?: string;
  required?: boolean;
  disabled?: boolean;
  placeholder?: string;
  onValue: (id: string) => void;
}

/** Selects a resource by its id or name, or by a part of them that no other has, and shows its name. */
export function ChoiceField<T extends { id: string | number }>({
  kind,
  of,
  isPartial = false,
  value,
  error,
  hint,
  onValue,
  ...field
}: Props<T>) {
  const listId = useId();
  /** The text while it selects none. */
  const [typed, setTyped] = useState<string | null>(null);
  /** Why the text selects none, once the user has left the field. */
  const [problem, setProblem] = useState<string | null>(null);
  const options = (of ?? []).map((one) => ({ id: String(one.id), name: kind.nameOf(one) }));
  const nameOf = (id: string) => options.find((one) => one.id === id)?.name;
  const find = (text: string) => {
    const part = text.trim().toLowerCase();
    const same = options.filter(({ name }) => name.toLowerCase() === part);
    return same.length > 0
      ? same
      : options.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(part));
  };
  const choose = (id: string) => {
    setTyped(null);
    setProblem(null);
    onValue(id);
  };
  const type = (text: string) => {
    if (text.trim() === '') return choose('');
    // Not a name: it may be the beginning of a longer one.
    if (options.some(({ id }) => id === text)) return choose(text);
    setTyped(text);
    setProblem(null);
    // Otherwise saving would keep the resource that was chosen before.
    if (value !== '') onValue('');
  };
  const leave = () => {
    if (typed === null) return;
    const found = find(typed);
    if (found.length === 1) choose(found[0]!.id);
    else if (found.length === 0 && (!of || isPartial)) choose(typed.trim());
    else setProblem(found.length === 0 ? t.noMatch(kind.counted[0]) : t.severalMatch(kind.counted[1]));
  };
  // The resources may come after the text.
  useEffect(() => {
    if (typed !== null) type(typed);
  }, [options.length]);
  return (
    <>
      <TextField
        list={listId}
        value={typed ?? value}
        error={problem ?? error}
        // The form cannot be sent with a text that selects none.
        pattern={typed === null ? undefined : '(?!)'}
        title={problem ?? undefined}
        hint={nameOf(value) ?? hint}
        onValue={type}
        onBlur={leave}
        {...field}
      />
      <datalist id={listId}>
        {options
          .toSorted((one, other) => one.name.localeCompare(other.name))
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </datalist>
    </>
  );
}
