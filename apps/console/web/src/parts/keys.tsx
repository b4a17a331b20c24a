import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { sendRequest, get } from '../api/http';
import type { ApiKey, CreatedKey, KeyRole } from '../api/types';
import { formatMoment } from '../format';
import { texts } from '../texts';
import { Confirm, Dialog } from './dialog';
import { SelectField, TextField } from './fields';
import { Empty, Loaded } from './loaded';
import { useNotices } from './notices';
import { Card } from './screen';
import { ShownOnce } from './shown-once';
import { Table } from './table';

const t = texts.integration;

interface Props {
  /** Path of the keys: of the user's own account, or for operators of any account. */
  path: string;
  roles: KeyRole[];
  ownKeyId: string | null;
}

export function Keys({ path, roles, ownKeyId }: Props) {
  const client = useQueryClient();
  const { say } = useNotices();
  const query = useQuery({
    queryKey: ['keys', path],
    queryFn: ({ signal }) => get<ApiKey[]>(path, undefined, signal),
  });
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['keys', path] });

  return (
    <Card
      title={t.keys}
      note={t.keysNote}
      actions={
        <button type="button" className="button main" onClick={() => setCreating(true)}>
          {t.create}
        </button>
      }
    >
      <Loaded query={query} isEmpty={(keys) => keys.length === 0} empty={<Empty title={t.emptyTitle} />}>
        {(keys) => (
          <Table
            caption={t.keys}
            // Active keys first, newest first within each part.
            rows={[...keys].sort(
              (one, other) =>
                Number(one.revoked_at !== null) - Number(other.revoked_at !== null) ||
                other.created_at.localeCompare(one.created_at),
            )}
            keyOf={({ id }) => id}
            columns={[
              { name: t.name, isHead: true, cell: ({ name }) => name ?? t.unnamed },
              { name: t.key, cell: ({ last4 }) => <code>{t.endsWith(last4)}</code> },
              { name: t.role, cell: ({ role }) => role },
              { name: t.created, cell: ({ created_at }) => formatMoment(created_at) },
              {
                name: t.lastUsed,
                cell: ({ last_used_at }) => (last_used_at ? formatMoment(last_used_at) : t.never),
              },
              {
                name: t.state,
                cell: (key) =>
                  key.revoked_at ? (
                    <span className="hint">{t.revoked(formatMoment(key.revoked_at))}</span>
                  ) : (
                    <span className="actions">
                      <button
                        type="button"
                        className="button danger small"
                        aria-label={`${t.revoke}: ${key.name ?? t.endsWith(key.last4)}`}
                        onClick={() => setRevoking(key)}
                      >
                        {t.revoke}
                      </button>
                      {key.id === ownKeyId && <span className="badge">{t.yours}</span>}
                    </span>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <CreateKey
        path={path}
        roles={roles}
        isOpen={isCreating}
        onClose={() => {
          setCreating(false);
          void refresh();
        }}
      />
      <Confirm
        title={t.revokeTitle}
        text={
          <>
            {t.revokeText(revoking?.name ?? t.endsWith(revoking?.last4 ?? null))}{' '}
            {revoking?.id === ownKeyId && revoking && t.revokeOwn}
          </>
        }
        action={t.revoke}
        isOpen={revoking !== null}
        onClose={() => setRevoking(null)}
        onConfirm={async () => {
          await sendRequest(`${path}/${revoking!.id}`, { method: 'DELETE' });
          say(t.revokedNotice);
          await refresh();
        }}
      />
    </Card>
  );
}

interface CreateProps {
  path: string;
  roles: KeyRole[];
  isOpen: boolean;
  onClose: () => void;
}

function CreateKey({ path, roles, isOpen, onClose }: CreateProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<KeyRole>(roles[0]!);
  const [made, setMade] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const close = () => {
    setName('');
    setMade(null);
    setError(null);
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const { body } = await sendRequest<CreatedKey>(path, {
        method: 'POST',
        body: { role, ...(name.trim() && { name: name.trim() }) },
      });
      setMade(body.key);
    } catch (refusal) {
      setError((refusal as Error).message);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog title={made ? t.shownOnce : t.createTitle} isOpen={isOpen} onClose={close} isHeld={made !== null}>
      {made ? (
        <ShownOnce text={t.shownOnceText} secret={made} copy={t.copyKey} close={t.done} onClose={close} />
      ) : (
        <form className="stack" onSubmit={(event) => void submit(event)}>
          <TextField
            label={t.name}
            value={name}
            onValue={setName}
            hint={t.nameHint}
            maxLength={200}
            error={error}
          />
          <SelectField
            label={t.role}
            value={role}
            options={roles.map((value) => ({ value, label: t.roles[value] }))}
            onValue={(value) => setRole(value as KeyRole)}
          />
          <div className="dialog-actions">
            <button type="button" className="button" onClick={close}>
              {texts.cancel}
            </button>
            <button type="submit" className="button main" disabled={isBusy}>
              {t.create}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
