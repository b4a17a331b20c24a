import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sendRequest, get } from '../api/http';
import type { ApiKey, CreatedKey, KeyRole, KeyScope } from '../api/types';
import { isoDay } from '../dates';
import { formatDate, formatMoment } from '../format';
import { texts } from '../texts';
import { Confirm, Dialog, DialogForm } from './dialog';
import { CheckField, SelectField, TextField } from './fields';
import { Empty, Loaded } from './loaded';
import { useNotices } from './notices';
import { Card } from './screen';
import { ShownOnce } from './shown-once';
import { Table } from './table';

const t = texts.integration;
const SCOPES = Object.keys(t.scopes satisfies Record<KeyScope, string>) as KeyScope[];
const SOON_MS = 14 * 86_400_000;

const nameOf = ({ name, last4 }: ApiKey) => name ?? t.endsWith(last4);
const hasEnded = ({ revoked_at, expires_at }: ApiKey) =>
  revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now());
const endsSoon = (key: ApiKey) =>
  !hasEnded(key) && key.expires_at !== null && Date.parse(key.expires_at) - Date.now() < SOON_MS;

interface Props {
  /** API path of the keys: those of the user's own account or, if the user is an operator, of any account. */
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
  const [rotating, setRotating] = useState<ApiKey | null>(null);
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
          <>
            <EndingSoon keys={keys} />
            <Table
              caption={t.keys}
              // Active keys first, newest first within each part.
              rows={[...keys].sort(
                (one, other) =>
                  Number(hasEnded(one)) - Number(hasEnded(other)) ||
                  other.created_at.localeCompare(one.created_at),
              )}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: t.name,
                  isHead: true,
                  cell: ({ name, last4 }) => (
                    <>
                      {name ?? t.unnamed}
                      <br />
                      <code className="hint">{t.endsWith(last4)}</code>
                    </>
                  ),
                },
                {
                  name: t.role,
                  cell: ({ role, scopes }) => (
                    <>
                      {role}
                      <br />
                      <span className="hint">{scopes ? <code>{scopes.join(', ')}</code> : t.allOfRole}</span>
                    </>
                  ),
                },
                {
                  name: t.created,
                  cell: ({ created_at }) => <span className="nowrap">{formatDate(created_at)}</span>,
                },
                {
                  name: t.lastUsed,
                  cell: ({ last_used_at }) => (
                    <span className="nowrap">{last_used_at ? formatMoment(last_used_at) : t.never}</span>
                  ),
                },
                {
                  name: t.state,
                  cell: (key) => (
                    <>
                      {key.revoked_at ? (
                        <span className="hint">{t.revoked(formatDate(key.revoked_at))}</span>
                      ) : hasEnded(key) ? (
                        <span className="hint">{t.expired(formatDate(key.expires_at!))}</span>
                      ) : key.expires_at ? (
                        <span className={`badge ${endsSoon(key) ? 'warn' : 'plain'}`}>
                          {t.ends(formatMoment(key.expires_at))}
                        </span>
                      ) : (
                        t.valid
                      )}{' '}
                      {key.id === ownKeyId && <span className="badge">{t.yours}</span>}
                    </>
                  ),
                },
                {
                  name: texts.rewardLinks.action,
                  cell: (key) =>
                    !hasEnded(key) && (
                      <span className="actions">
                        {!key.rotated_to && (
                          <button
                            type="button"
                            className="button small"
                            aria-label={`${t.rotate}: ${nameOf(key)}`}
                            onClick={() => setRotating(key)}
                          >
                            {t.rotate}
                          </button>
                        )}
                        <button
                          type="button"
                          className="button danger small"
                          aria-label={`${t.revoke}: ${nameOf(key)}`}
                          onClick={() => setRevoking(key)}
                        >
                          {t.revoke}
                        </button>
                      </span>
                    ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {isCreating && (
        <CreateKey
          path={path}
          roles={roles}
          onClose={() => {
            setCreating(false);
            void refresh();
          }}
        />
      )}
      {rotating && (
        <RotateKey
          path={path}
          rotated={rotating}
          isOwn={rotating.id === ownKeyId}
          onClose={() => {
            setRotating(null);
            void refresh();
          }}
        />
      )}
      <Confirm
        title={t.revokeTitle}
        text={
          <>
            {revoking && t.revokeText(nameOf(revoking))}{' '}
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

/** Names the keys that end soon and have no successor. */
function EndingSoon({ keys }: { keys: ApiKey[] }) {
  const ending = keys.filter((key) => endsSoon(key) && !key.rotated_to);
  if (ending.length === 0) return null;
  return (
    <p className="callout" role="status">
      {t.endingSoon(ending.map(nameOf).join(', '))}
    </p>
  );
}

const NewKey = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <Dialog title={t.shownOnce} isOpen onClose={onClose} isHeld>
    <ShownOnce text={t.shownOnceText} secret={secret} copy={t.copyKey} close={t.done} onClose={onClose} />
  </Dialog>
);

interface RotateProps {
  path: string;
  rotated: ApiKey;
  isOwn: boolean;
  onClose: () => void;
}

function RotateKey({ path, rotated, isOwn, onClose }: RotateProps) {
  const [overlap, setOverlap] = useState('86400');
  const [made, setMade] = useState<string | null>(null);
  const rotate = async () => {
    const { body } = await sendRequest<CreatedKey>(`${path}/${rotated.id}/rotate`, {
      method: 'POST',
      body: { overlap_seconds: Number(overlap) },
    });
    setMade(body.key);
  };
  if (made) return <NewKey secret={made} onClose={onClose} />;
  return (
    <DialogForm
      title={t.rotateTitle(nameOf(rotated))}
      action={t.rotate}
      isOpen
      onClose={onClose}
      onSubmit={rotate}
    >
      <p>
        {t.rotateText} {isOwn && t.rotateOwn}
      </p>
      <SelectField label={t.overlap} value={overlap} options={t.overlaps} onValue={setOverlap} />
    </DialogForm>
  );
}

interface CreateProps {
  path: string;
  roles: KeyRole[];
  onClose: () => void;
}

function CreateKey({ path, roles, onClose }: CreateProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<KeyRole>(roles[0]!);
  const [isAll, setAll] = useState(true);
  const [scopes, setScopes] = useState<KeyScope[]>([]);
  const [hasTried, setTried] = useState(false);
  const [lastDay, setLastDay] = useState('');
  const [made, setMade] = useState<string | null>(null);

  const lacksScope = !isAll && scopes.length === 0;

  const create = async () => {
    setTried(true);
    if (lacksScope) return;
    const { body } = await sendRequest<CreatedKey>(path, {
      method: 'POST',
      body: {
        role,
        ...(name.trim() && { name: name.trim() }),
        ...(!isAll && { scopes }),
        ...(lastDay && { expires_at: new Date(`${lastDay}T23:59:59`).toISOString() }),
      },
    });
    setMade(body.key);
  };

  if (made) return <NewKey secret={made} onClose={onClose} />;
  return (
    <DialogForm title={t.createTitle} action={t.create} isOpen onClose={onClose} onSubmit={create}>
      <TextField
        label={t.name}
        required
        value={name}
        onValue={setName}
        hint={t.nameHint}
        maxLength={200}
        autoFocus
      />
      <SelectField
        label={t.role}
        hint={t.roleHints[role]}
        value={role}
        options={roles.map((value) => ({ value, label: t.roles[value] }))}
        onValue={(value) => setRole(value as KeyRole)}
      />
      <fieldset>
        <legend className="legend-label">{t.allowed}</legend>
        <CheckField label={t.allOfRole} checked={isAll} onValue={setAll} />
        {!isAll && (
          <div className="checks">
            {SCOPES.map((scope) => (
              <CheckField
                key={scope}
                label={
                  <span>
                    {t.scopes[scope]} <code className="hint">{scope}</code>
                  </span>
                }
                checked={scopes.includes(scope)}
                onValue={(isChosen) =>
                  setScopes(isChosen ? [...scopes, scope] : scopes.filter((other) => other !== scope))
                }
              />
            ))}
          </div>
        )}
        {hasTried && lacksScope && (
          <p className="field-error" role="alert">
            {t.needsScope}
          </p>
        )}
      </fieldset>
      <TextField
        label={t.lastDay}
        type="date"
        min={isoDay(new Date())}
        hint={t.lastDayHint}
        value={lastDay}
        onValue={setLastDay}
      />
    </DialogForm>
  );
}
