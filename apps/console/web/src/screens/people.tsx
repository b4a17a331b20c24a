import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { allOf, perkway, responseOf } from '../api/perkway';
import type { Person } from '../api/types';
import { Confirm } from '../parts/dialog';
import { SelectField, TextField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.accounts;

const keyOf = (accountId: string) => ['people', accountId];

/** Reads who may sign in for an account. */
export const usePeople = (accountId: string) =>
  useQuery({
    queryKey: keyOf(accountId),
    queryFn: () => allOf(perkway.token.listPeople({ accountId, limit: 200 })),
  });

/** Lists who may sign in for an account with OpenID Connect. */
export function People({ accountId }: { accountId: string }) {
  const client = useQueryClient();
  const { say } = useNotices();
  const people = usePeople(accountId);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Person['role']>('USER');
  /** Waits for a confirmation: an operator may change every account. */
  const [operator, setOperator] = useState<string | null>(null);
  const [leaving, setLeaving] = useState<Person | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: keyOf(accountId) });
  const put = async (person: Pick<Person, 'email' | 'role'>) => {
    await responseOf(perkway.token.putPerson({ accountId, ...person }));
    say(texts.saved);
    setEmail('');
    setRole('USER');
    await refresh();
  };
  const addMember = async () => {
    try {
      await put({ email: email.trim(), role: 'USER' });
    } catch (error) {
      say((error as Error).message, 'bad');
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (role === 'ADMIN') setOperator(email.trim());
    else void addMember();
  };

  return (
    <Card title={t.people} note={t.peopleNote}>
      <div className="stack">
        <Loaded query={people} isEmpty={(list) => list.length === 0} empty={<p>{t.noPeople}</p>}>
          {(list) => (
            <Table
              caption={t.people}
              rows={list}
              keyOf={(person) => person.email}
              columns={[
                { name: t.email, isHead: true, cell: (person) => person.email },
                { name: texts.integration.role, cell: (person) => t.roles[person.role] },
                {
                  name: texts.rewardLinks.action,
                  cell: (person) => (
                    <button
                      type="button"
                      className="button danger small"
                      aria-label={t.removeOf(person.email)}
                      onClick={() => setLeaving(person)}
                    >
                      {t.remove}
                    </button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
        <form className="form" onSubmit={submit}>
          <TextField label={t.email} type="email" required value={email} onValue={setEmail} />
          <SelectField
            label={texts.integration.role}
            value={role}
            hint={t.roleHints[role]}
            options={t.roles}
            onValue={(value) => setRole(value as Person['role'])}
          />
          <div className="actions">
            <button type="submit" className="button">
              {t.add}
            </button>
          </div>
        </form>
      </div>
      <Confirm
        title={t.operatorTitle}
        text={t.operatorText(operator ?? '')}
        action={t.addOperator}
        isOpen={operator !== null}
        onClose={() => setOperator(null)}
        onConfirm={() => put({ email: operator!, role: 'ADMIN' })}
      />
      <Confirm
        title={t.removeTitle}
        text={t.removeText(leaving?.email ?? '')}
        action={t.remove}
        isOpen={leaving !== null}
        onClose={() => setLeaving(null)}
        onConfirm={async () => {
          await responseOf(perkway.token.deletePerson({ accountId, email: leaving!.email }));
          await refresh();
        }}
      />
    </Card>
  );
}
