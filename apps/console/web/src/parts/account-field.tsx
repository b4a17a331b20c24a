import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { ACCOUNTS, pathOf, useAll } from '../api/managed';
import { texts } from '../texts';
import { ChoiceField } from './choice-field';

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

/** Selects the owning account by its id or name. */
export function AccountField({ value, error, any, onValue }: Props) {
  const accounts = useAll(ACCOUNTS).data;
  return (
    <ChoiceField
      label={texts.editor.owner}
      kind={ACCOUNTS}
      of={accounts}
      value={value}
      error={error}
      required={any === undefined}
      placeholder={any ?? texts.editor.choose}
      onValue={onValue}
    />
  );
}
