import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { useFound } from '../api/resources';
import type { PutCampaign, StoredCampaign, StoredPerk } from '../api/types';
import { AccountField } from '../parts/account-field';
import { FileField, TextArea, TextField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { PerkPicture } from '../parts/perk-picture';
import { Screen } from '../parts/screen';
import { ResourceEditor } from '../parts/resource-editor';
import { ResourceList } from '../parts/resource-list';
import { slugOf } from '../slug';
import { texts } from '../texts';

const t = texts.campaignEditor;
const CAMPAIGNS = '/api/boost/admin/campaigns';

interface Draft {
  owner: string;
  name: string;
  perks: string;
}
const linesOf = (text: string) => text.split(/[\s,;]+/).filter(Boolean);

export default function CampaignEditor() {
  const { campaignId } = useParams();
  return campaignId === undefined ? <List /> : <Editor key={campaignId} campaignId={campaignId} />;
}

function List() {
  const navigate = useNavigate();
  return (
    <Screen
      title={texts.nav.campaignEditor}
      intro={t.intro}
      actions={
        <button type="button" className="button main" onClick={() => void navigate('/campaign-editor/new')}>
          {t.create}
        </button>
      }
    >
      <ResourceList<StoredCampaign>
        path={CAMPAIGNS}
        caption={texts.nav.campaignEditor}
        columns={[
          {
            name: texts.campaigns.name,
            isHead: true,
            cell: ({ id, name }) => <Link to={`/campaign-editor/${encodeURIComponent(id)}`}>{name}</Link>,
          },
          { name: texts.editor.id, cell: ({ id }) => <code>{id}</code> },
          { name: texts.editor.owner, cell: ({ owner }) => owner },
          { name: texts.campaigns.perks, isNumber: true, cell: ({ incentives }) => incentives.length },
        ]}
      />
    </Screen>
  );
}

function Editor({ campaignId }: { campaignId: string }) {
  const navigate = useNavigate();
  const id = campaignId === 'new' ? null : campaignId;
  return (
    <Screen title={id ?? t.create} back={{ to: '/campaign-editor', label: texts.nav.campaignEditor }}>
      <ResourceEditor<StoredCampaign, Draft, PutCampaign>
        path={CAMPAIGNS}
        id={id}
        canDelete
        makeId={({ name, owner }) => slugOf(`${owner} ${name}`)}
        blank={{ owner: '', name: '', perks: '' }}
        toDraft={({ owner, name, incentives }) => ({ owner, name, perks: incentives.join('\n') })}
        toBody={({ owner, name, perks }) => ({ owner, name, incentives: [...new Set(linesOf(perks))] })}
        fields={(draft, change) => (
          <>
            <TextField
              label={texts.accounts.name}
              required
              value={draft.name}
              onValue={(name) => change({ name })}
            />
            <AccountField value={draft.owner} onValue={(owner) => change({ owner })} />
            <Perks perks={draft.perks} onPerks={(perks) => change({ perks })} />
          </>
        )}
        onSaved={(saved) => id === null && void navigate(`/campaign-editor/${encodeURIComponent(saved)}`)}
        onDeleted={() => void navigate('/campaign-editor')}
      />
    </Screen>
  );
}

/** Selects perks in order: by search, from the first column of a file, or as typed ids. */
function Perks({ perks, onPerks }: { perks: string; onPerks: (perks: string) => void }) {
  const { say } = useNotices();
  const [q, setQ] = useState('');
  const found = useFound<StoredPerk>('/api/perks/admin/perks', q);
  const chosen = linesOf(perks);
  const read = async (file: File | null) => {
    if (!file) return;
    try {
      const { idsFromCsv } = await import('../import/ids-from-csv');
      onPerks(idsFromCsv(await file.text()).join('\n'));
    } catch (error) {
      say((error as Error).message, 'bad');
    }
  };
  return (
    <fieldset className="wide stack">
      <legend>{t.perks(chosen.length)}</legend>
      <TextArea label={t.ids} hint={t.idsHint} rows={6} className="code" value={perks} onValue={onPerks} />
      <FileField
        label={t.fromCsv}
        hint={t.fromCsvHint}
        accept=".csv,text/csv"
        onFile={(file) => void read(file)}
      />
      <TextField label={t.findPerk} type="search" value={q} onValue={setQ} />
      <Loaded query={found} isEmpty={({ data }) => data.length === 0} empty={<p>{texts.nothingFound}</p>}>
        {({ data }) => (
          <ul className="stack found-perks" aria-label={t.findPerk}>
            {data
              .filter(({ id }) => !chosen.includes(id))
              .slice(0, 8)
              .map(({ id, title, partner, media }) => (
                <li key={id} className="with-picture">
                  <PerkPicture src={media.logo ?? media.banner} name={partner.name} />
                  <span>
                    {title} <span className="hint">{partner.name}</span>
                  </span>
                  <button
                    type="button"
                    className="button small"
                    aria-label={t.addOf(title)}
                    onClick={() => onPerks([...chosen, id].join('\n'))}
                  >
                    {t.add}
                  </button>
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </fieldset>
  );
}
