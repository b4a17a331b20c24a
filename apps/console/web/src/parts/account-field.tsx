import { ACCOUNTS, useAll } from '../api/managed';
import { texts } from '../texts';
import { SelectField } from './fields';

interface Props {
  value: string;
  error?: string | null;
  /** Label of the option for all accounts. Without it, one account must be chosen. */
  any?: string;
  onValue: (id: string) => void;
}

/** Selects the owning account. */
export function AccountField({ value, error, any, onValue }: Props) {
  const accounts = useAll(ACCOUNTS);
  const known = accounts.data ?? [];
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
