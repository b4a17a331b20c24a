import { useId, useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { ACCOUNTS, pathOf, useAll } from '../api/managed';
import { texts } from '../texts';
import { TextField } from './fields';

interface Props {
  value: string;
  error?: string | null;
  /** What an empty field stands for. Without it, one account must be chosen. */
  any?: string;
  onValue: (id: string) => void;
}

/** Returns a function from the id of an account to its name, or to the id until the names are loaded. */
export function useAccountNames(enabled = true): (id: string) => string {
  const accounts = useAll(ACCOUNTS, enabled).data;
  return (id) => accounts?.find((one) => one.id === id)?.name ?? id;
}
export const useAccountName = (id: string): string => useAccountNames()(id);

/** The name of an account, which leads to its screen. */
export const AccountLink = ({ id }: { id: string }) => (
  <Link to={pathOf(ACCOUNTS, id)}>{useAccountName(id)}</Link>
);

/** Says that recipients do not learn who sent their gift, if the account has no brand. */
export function NoBrand({ id, children }: { id: string; children: ReactNode }) {
  const account = useAll(ACCOUNTS).data?.find((one) => one.id === id);
  if (!account || account.brand) return null;
  return (
    <p className="callout">
      <span>
        {texts.accounts.noBrand} {children}
      </span>
    </p>
  );
}

/** Selects the owning account by its id or name, which the browser completes. */
export function AccountField({ value, error, any, onValue }: Props) {
  const accounts = useAll(ACCOUNTS).data ?? [];
  const listId = useId();
  /** The text while it is not the id or name of an account. */
  const [typed, setTyped] = useState<string | null>(null);
  const choose = (text: string) => {
    const known = accounts.find(({ id }) => id === text) ?? accounts.find(({ name }) => name === text);
    if (!known && text !== '') return false;
    setTyped(null);
    onValue(known?.id ?? '');
    return true;
  };
  return (
    <>
      <TextField
        label={texts.editor.owner}
        list={listId}
        value={typed ?? value}
        error={error}
        required={any === undefined}
        placeholder={any ?? texts.editor.choose}
        hint={accounts.find(({ id }) => id === value)?.name}
        onValue={(text) => {
          if (choose(text)) return;
          setTyped(text);
          // Otherwise saving would keep the account that was chosen before.
          onValue('');
        }}
        // The accounts may have come after the text.
        onBlur={() => typed !== null && (choose(typed) || setTyped(null))}
      />
      <datalist id={listId}>
        {accounts
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
