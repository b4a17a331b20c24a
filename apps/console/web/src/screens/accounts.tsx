import { Link, useNavigate } from 'react-router';
import { ACCOUNTS } from '../api/managed';
import { useOperatorsHome } from '../api/operators-home';
import { Ago } from '../parts/ago';
import { Screen } from '../parts/screen';
import { ResourceList } from '../parts/resource-list';
import { texts } from '../texts';

const t = texts.accounts;

export default function Accounts() {
  const navigate = useNavigate();
  const traffic = useOperatorsHome().data?.traffic;
  const lastEventOf = (id: string) => {
    const last = traffic?.find(({ account_id }) => account_id === id)?.last_event_at;
    return last ? <Ago moment={last} /> : <span className="hint">{t.noEvents}</span>;
  };
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
      <ResourceList
        kind={ACCOUNTS}
        caption={texts.nav.accounts}
        searchHint={t.searchHint}
        columns={[
          {
            name: t.name,
            isHead: true,
            cell: ({ id, name }) => <Link to={`/accounts/${encodeURIComponent(id)}`}>{name}</Link>,
          },
          { name: texts.editor.id, cell: ({ id }) => <code>{id}</code> },
          { name: texts.operatorsHome.lastEvent, cell: ({ id }) => traffic && lastEventOf(id) },
        ]}
      />
    </Screen>
  );
}
