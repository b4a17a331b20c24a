import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { useFound } from '../api/stored';
import type { Account } from '../api/types';
import { formatMoment } from '../format';
import { TextField } from '../parts/fields';
import { Empty, Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.accounts;

export default function Accounts() {
  const navigate = useNavigate();
  const [q, setQ] = useState('');
  const accounts = useFound<Account>('/api/token/admin/accounts', q);
  return (
    <Screen
      title={texts.nav.accounts}
      intro={t.intro}
      actions={
        <button type="button" className="button main" onClick={() => void navigate('/accounts/new')}>
          {t.create}
        </button>
      }
    >
      <Card>
        <div className="stack">
          <TextField label={texts.search} type="search" value={q} onValue={setQ} hint={t.searchHint} />
          <Loaded
            query={accounts}
            isEmpty={({ data }) => data.length === 0}
            empty={<Empty title={texts.nothingFound} />}
          >
            {({ data }) => (
              <Table
                caption={texts.nav.accounts}
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: t.name,
                    isHead: true,
                    cell: ({ id, name }) => <Link to={`/accounts/${encodeURIComponent(id)}`}>{name}</Link>,
                  },
                  { name: texts.editor.id, cell: ({ id }) => <code>{id}</code> },
                  { name: t.origins, isNumber: true, cell: ({ allowed_origins }) => allowed_origins.length },
                  { name: texts.editor.changed, cell: ({ updated_at }) => formatMoment(updated_at) },
                ]}
              />
            )}
          </Loaded>
        </div>
      </Card>
    </Screen>
  );
}
