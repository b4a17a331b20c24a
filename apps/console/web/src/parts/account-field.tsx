import { useAll } from '../api/resources';
import type { Account } from '../api/types';
import { texts } from '../texts';
import { SelectField } from './fields';

/** Selects the owning account. */
export function AccountField({ value, onValue }: { value: string; onValue: (id: string) => void }) {
  const accounts = useAll<Account>('/api/token/admin/accounts');
  const known = accounts.data ?? [];
  return (
    <SelectField
      label={texts.editor.owner}
      value={value}
      required
      options={[
        { value: '', label: texts.editor.choose },
        ...known.map(({ id, name }) => ({ value: id, label: `${name} (${id})` })),
        ...(value && !known.some(({ id }) => id === value) ? [{ value, label: value }] : []),
      ]}
      onValue={onValue}
    />
  );
}
