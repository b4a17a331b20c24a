import { Link, useNavigate } from 'react-router';
import { ACCOUNTS } from '../api/managed';
import { Screen } from '../parts/screen';
import { ResourceList } from '../parts/resource-list';
import { texts } from '../texts';

const t = texts.accounts;

export default function Accounts() {
  const navigate = useNavigate();
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
          { name: t.origins, isNumber: true, cell: ({ allowed_origins }) => allowed_origins.length },
        ]}
      />
    </Screen>
  );
}
