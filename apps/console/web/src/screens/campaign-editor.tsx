import { slugOf } from '@perkway/domain/slug';
import { SHAPES } from '@perkway/catalogue/shapes';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { bodyOf, CAMPAIGNS } from '../api/managed';
import { usePerks } from '../api/perks-by-id';
import type { PutCampaign, StoredCampaign } from '../api/types';
import { moved } from '../order';
import { AccountField } from '../parts/account-field';
import { ArrangedItem, useArrange } from '../parts/arrange';
import { FileField, TextField } from '../parts/fields';
import { useNotices } from '../parts/notices';
import { PerkName, PerkPicker } from '../parts/perk-picker';
import { ResourceEditor } from '../parts/resource-editor';
import { ResourceList } from '../parts/resource-list';
import { Screen } from '../parts/screen';
import { LimitsOf } from '../parts/used-in';
import { texts } from '../texts';

const t = texts.campaignEditor;

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
      <ResourceList
        kind={CAMPAIGNS}
        caption={texts.nav.campaignEditor}
        columns={[
          {
            name: texts.campaigns.name,
            isHead: true,
            cell: ({ id, name }) => <Link to={`/campaign-editor/${encodeURIComponent(id)}`}>{name}</Link>,
          },
          { name: texts.editor.id, cell: ({ id }) => <code>{id}</code> },
          { name: texts.campaigns.perks, isNumber: true, cell: ({ incentives }) => incentives.length },
        ]}
      />
    </Screen>
  );
}

const BLANK: PutCampaign = { owner: '', name: '', incentives: [] };

function Editor({ campaignId }: { campaignId: string }) {
  const navigate = useNavigate();
  const id = campaignId === 'new' ? null : campaignId;
  const [name, setName] = useState<string | null>(null);
  return (
    <Screen
      title={id === null ? t.create : (name ?? id)}
      intro={id !== null && name && <code>{id}</code>}
      back={{ to: '/campaign-editor', label: texts.nav.campaignEditor }}
    >
      <ResourceEditor<StoredCampaign, PutCampaign, PutCampaign>
        kind={CAMPAIGNS}
        id={id}
        nameOf={(stored) => stored.name}
        onNamed={setName}
        makeId={({ name, owner }) => slugOf(`${owner} ${name}`)}
        blank={BLANK}
        toDraft={(stored) => ({ ...BLANK, ...bodyOf<PutCampaign>(stored) })}
        toBody={(campaign) => campaign}
        shape={SHAPES.campaigns}
        usedIn={({ id, owner }) => <LimitsOf owner={owner} isOf={(only) => only.campaign_id === id} />}
        fields={(draft, change, errorOf) => (
          <>
            <TextField
              label={texts.accounts.name}
              required
              maxLength={300}
              error={errorOf('name')}
              value={draft.name}
              onValue={(name) => change({ name })}
            />
            <AccountField
              value={draft.owner}
              error={errorOf('owner')}
              onValue={(owner) => change({ owner })}
            />
            <Perks
              ids={draft.incentives}
              error={errorOf('incentives')}
              onIds={(incentives) => change({ incentives })}
            />
          </>
        )}
        onSaved={(saved) => id === null && void navigate(`/campaign-editor/${encodeURIComponent(saved)}`)}
        onDeleted={() => void navigate('/campaign-editor')}
      />
    </Screen>
  );
}

interface PerksProps {
  ids: string[];
  error: string | null;
  onIds: (ids: string[]) => void;
}

/** Chooses perks by picture or from a CSV file, and arranges them. */
function Perks({ ids, error, onIds }: PerksProps) {
  const { say } = useNotices();
  const perks = usePerks(ids);
  const [isPicking, setPicking] = useState(false);
  const nameOf = (id: string) => perks.get(id)?.title ?? id;
  const arranging = useArrange(([from], [to]) => {
    onIds(moved(ids, from!, to!));
    return texts.arrange.moved(nameOf(ids[from!]!), to! + 1, ids.length);
  });
  const read = async (file: File | null) => {
    if (!file) return;
    try {
      const { columnFromCsv } = await import('../import/column-from-csv');
      onIds([...new Set(columnFromCsv(await file.text(), 'id'))]);
    } catch (refusal) {
      say((refusal as Error).message, 'bad');
    }
  };
  return (
    <fieldset className="wide field-group">
      <legend>{t.perks(ids.length)}</legend>
      <div className="stack">
        {error && <p className="field-error">{error}</p>}
        <ol className="arranged-list" aria-label={t.perks(ids.length)}>
          {ids.map((id, index) => (
            <ArrangedItem
              key={id}
              arranging={arranging}
              id={id}
              name={nameOf(id)}
              place={[index]}
              up={index > 0 ? [index - 1] : null}
              down={index < ids.length - 1 ? [index + 1] : null}
              removeLabel={t.remove(nameOf(id))}
              onRemove={() => onIds(ids.toSpliced(index, 1))}
            >
              <PerkName id={id} perk={perks.get(id)} />
            </ArrangedItem>
          ))}
          {ids.length === 0 && <li className="hint">{t.noPerks}</li>}
        </ol>
        <button type="button" className="button" onClick={() => setPicking(true)}>
          {t.choose}
        </button>
        <FileField
          label={t.fromCsv}
          hint={t.fromCsvHint}
          accept=".csv,text/csv"
          onFile={(file) => void read(file)}
        />
        {arranging.status}
      </div>
      {isPicking && (
        <PerkPicker
          title={t.choose}
          chosen={ids}
          onAdd={(added) => onIds([...ids, ...added])}
          onRemove={(id) => onIds(ids.filter((one) => one !== id))}
          onClose={() => setPicking(false)}
        />
      )}
    </fieldset>
  );
}
