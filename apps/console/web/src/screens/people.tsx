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
const ROLES = ['USER', 'ADMIN'] as const;

/** Lists who may sign in for an account with OpenID Connect. */
export function People({ accountId }: { accountId: string }) {
  const key = ['people', accountId];
  const client = useQueryClient();
  const { say } = useNotices();
  const people = useQuery({
    queryKey: key,
    queryFn: () => allOf(perkway.token.listPeople({ accountId, limit: 200 })),
  });
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Person['role']>('USER');
  const [leaving, setLeaving] = useState<Person | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: key });
  const put = async (person: Pick<Person, 'email' | 'role'>) => {
    try {
      await responseOf(perkway.token.putPerson({ accountId, ...person }));
      say(texts.saved);
      setEmail('');
      await refresh();
    } catch (error) {
      say((error as Error).message, 'bad');
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void put({ email: email.trim(), role });
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
                { name: texts.integration.role, cell: (person) => person.role },
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
            options={ROLES.map((value) => ({ value, label: value }))}
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
