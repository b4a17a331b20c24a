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
  value: string;
  error?: string | null;
  hint?: string;
  required?: boolean;
  disabled?: boolean;
  placeholder?: string;
  onValue: (id: string) => void;
}

const only = <T,>(found: T[]): T | undefined => (found.length === 1 ? found[0] : undefined);

/** Selects a resource by its id or name, which the browser completes, and shows its name. */
export function ChoiceField<T extends { id: string | number }>({
  kind,
  of,
  value,
  error,
  hint,
  onValue,
  ...field
}: Props<T>) {
  const listId = useId();
  /** The text while it selects none. */
  const [typed, setTyped] = useState<string | null>(null);
  /** Why it does not, once the user has left the field. */
  const [problem, setProblem] = useState<string | null>(null);
  const options = (of ?? []).map((one) => ({ id: String(one.id), name: kind.nameOf(one) }));
  const nameOf = (id: string) => options.find((one) => one.id === id)?.name;
  const withPart = (text: string) =>
    options.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(text.trim().toLowerCase()));
  const choose = (id: string) => {
    setTyped(null);
    setProblem(null);
    onValue(id);
  };
  const type = (text: string) => {
    const known = options.find(({ id }) => id === text) ?? only(options.filter(({ name }) => name === text));
    if (known || text === '') return choose(known?.id ?? '');
    setTyped(text);
    setProblem(null);
    // Otherwise saving would keep the resource that was chosen before.
    if (value !== '') onValue('');
  };
  const leave = () => {
    if (typed === null || !of) return;
    const found = withPart(typed);
    if (found.length === 1) choose(found[0]!.id);
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
