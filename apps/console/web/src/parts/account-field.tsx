import { Link } from 'react-router';
import { ACCOUNTS, pathOf, useAll } from '../api/managed';
import { texts } from '../texts';
import { SelectField } from './fields';

interface Props {
  value: string;
  error?: string | null;
  /** Label of the option for all accounts. Without it, one account must be chosen. */
  any?: string;
  onValue: (id: string) => void;
}

/** The name of an account, which leads to its screen. */
export function AccountLink({ id }: { id: string }) {
  const accounts = useAll(ACCOUNTS);
  return <Link to={pathOf(ACCOUNTS, id)}>{accounts.data?.find((one) => one.id === id)?.name ?? id}</Link>;
}

/** Selects the owning account; browsers find an option by the first letters of its name. */
export function AccountField({ value, error, any, onValue }: Props) {
  const accounts = useAll(ACCOUNTS);
  const known = (accounts.data ?? []).toSorted((one, other) => one.name.localeCompare(other.name));
  return (
    <SelectField
      label={texts.editor.owner}
      value={value}
      error={error}
      required={any === undefined}
      any={any ?? texts.editor.choose}
      options={[
        ...known.map(({ id, name }) => ({ value: id, label: `${name} (${id})` })),
        ...(value && !known.some(({ id }) => id === value) ? [{ value, label: value }] : []),
      ]}
      onValue={onValue}
    />
  );
}
