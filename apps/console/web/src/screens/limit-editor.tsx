import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from 'react-router';
import { readUsage, ruleOf, usedOf } from '../api/limits';
import { CAMPAIGNS, keyOf, LIMITS, pathOf, POOLS, useSearch, type Kind } from '../api/managed';
import type { Limit, PutLimit } from '../api/types';
import { AccountField } from '../parts/account-field';
import { ChoiceField } from '../parts/choice-field';
import { SelectField, TextField } from '../parts/fields';
import { Empty } from '../parts/loaded';
import { ResourceEditor } from '../parts/resource-editor';
import { ResourceList } from '../parts/resource-list';
import { Card, Screen } from '../parts/screen';
import { texts } from '../texts';
import { LimitUsage } from './limit-usage';

const t = texts.limits;
const LIST = '/limit-editor';

interface Draft {
  owner: string;
  links: string;
  amount: string;
  currency: string;
  period: Limit['period'];
  timezone: string;
  per: Limit['per'];
  pool_id: string;
  campaign_id: string;
}
const BLANK: Draft = {
  owner: '',
  links: '',
  amount: '',
  currency: '',
  period: 'month',
  timezone: 'UTC',
  per: 'account',
  pool_id: '',
  campaign_id: '',
};

export default function LimitEditor() {
  const { limitId } = useParams();
  return limitId === undefined ? <List /> : <Editor key={limitId} id={limitId === 'new' ? null : limitId} />;
}

function List() {
  const navigate = useNavigate();
  return (
    <Screen
      title={texts.nav.limitEditor}
      intro={t.editorIntro}
      actions={
        <button type="button" className="button main" onClick={() => void navigate(`${LIST}/new`)}>
          {t.create}
        </button>
      }
    >
      <ResourceList
        kind={LIMITS}
        empty={
          <Empty title={t.emptyTitle}>
            <p>{t.emptyEditorText}</p>
          </Empty>
        }
        caption={texts.nav.limits}
        columns={[
          {
            name: t.limit,
            isHead: true,
            cell: ({ id }) => <Link to={`${LIST}/${encodeURIComponent(id)}`}>{id}</Link>,
          },
          { name: t.allows, cell: ruleOf },
          { name: t.used, cell: (limit) => <Used limit={limit} /> },
        ]}
      />
    </Screen>
  );
}

function Editor({ id }: { id: string | null }) {
  const navigate = useNavigate();
  return (
    <Screen title={id ?? t.create} back={{ to: LIST, label: texts.nav.limitEditor }}>
      <ResourceEditor<Limit, Draft, PutLimit>
        kind={LIMITS}
        id={id}
        makeId={({ owner, period }) => owner && `${owner}-${period}`}
        idHint={t.idHint}
        blank={BLANK}
        toDraft={({ owner, links, amount, currency, period, timezone, per, only }) => ({
          ...{ owner, period, timezone, per },
          links: String(links ?? ''),
          amount: String(amount ?? ''),
          currency: currency ?? '',
          pool_id: only?.pool_id ?? '',
          campaign_id: only?.campaign_id ?? '',
        })}
        toBody={({ owner, links, amount, currency, period, timezone, per, pool_id, campaign_id }) => ({
          ...{ owner, period, per },
          links: links ? Number(links) : null,
          amount: amount ? Number(amount) : null,
          currency: currency.trim() || null,
          timezone: timezone.trim() || null,
          only:
            pool_id || campaign_id
              ? { pool_id: pool_id.trim() || null, campaign_id: campaign_id.trim() || null }
              : null,
        })}
        below={(limit) => (
          <Card title={t.used}>
            <LimitUsage limit={limit} isOwn={false} />
          </Card>
        )}
        fields={(draft, change, errorOf) => (
          <>
            <AccountField
              value={draft.owner}
              error={errorOf('owner')}
              // Pools and campaigns belong to one account.
              onValue={(owner) => change({ owner, pool_id: '', campaign_id: '' })}
            />
            <TextField
              label={t.links}
              type="number"
              min={1}
              step={1}
              required={draft.amount === ''}
              hint={t.linksHint}
              error={errorOf('links')}
              value={draft.links}
              onValue={(links) => change({ links })}
            />
            <TextField
              label={t.amount}
              type="number"
              min={0}
              step="any"
              error={errorOf('amount')}
              value={draft.amount}
              onValue={(amount) => change({ amount })}
            />
            <TextField
              label={t.currency}
              maxLength={3}
              required={draft.amount !== ''}
              error={errorOf('currency')}
              value={draft.currency}
              onValue={(currency) => change({ currency })}
            />
            <SelectField
              label={t.period}
              value={draft.period}
              options={t.periods}
              onValue={(period) => change({ period: period as Draft['period'] })}
            />
            <TextField
              label={t.timezone}
              hint={t.timezoneHint}
              error={errorOf('timezone')}
              value={draft.timezone}
              onValue={(timezone) => change({ timezone })}
            />
            <SelectField
              label={t.per}
              value={draft.per}
              options={t.pers}
              onValue={(per) => change({ per: per as Draft['per'] })}
            />
            <PossessionField
              kind={POOLS}
              owner={draft.owner}
              label={t.onlyPool}
              hint={t.onlyPoolHint}
              error={errorOf('only.pool_id')}
              value={draft.pool_id}
              onValue={(pool_id) => change({ pool_id })}
            />
            <PossessionField
              kind={CAMPAIGNS}
              owner={draft.owner}
              label={t.onlyCampaign}
              hint={t.onlyCampaignHint}
              error={errorOf('only.campaign_id')}
              value={draft.campaign_id}
              onValue={(campaign_id) => change({ campaign_id })}
            />
          </>
        )}
        onSaved={(saved) => id === null && void navigate(`${LIST}/${encodeURIComponent(saved)}`)}
        onDeleted={() => void navigate(LIST)}
      />
    </Screen>
  );
}

/** Shows the usage of a limit, or leads to its screen if it counts several values. */
function Used({ limit }: { limit: Limit }) {
  const countsAccount = limit.per === 'account';
  const usage = useQuery({
    queryKey: [...keyOf(LIMITS), 'usage', limit],
    queryFn: ({ signal }) => readUsage(limit, false, '', signal),
    enabled: countsAccount,
  });
  if (!countsAccount)
    return <Link to={pathOf(LIMITS, limit.id)}>{t.usageBy(t.pers[limit.per].toLowerCase())}</Link>;
  return usage.data ? usedOf(usage.data) : <span className="hint">{usage.error ? texts.none : '…'}</span>;
}

interface PossessionProps<T> {
  kind: Kind<T>;
  owner: string;
  label: string;
  hint: string;
  error: string | null;
  value: string;
  onValue: (id: string) => void;
}

/** Selects a resource of the account. */
function PossessionField<T extends { id: string | number; owner?: string }>({
  owner,
  hint,
  ...field
}: PossessionProps<T>) {
  const found = useSearch(field.kind, { owner, limit: 200 }, owner !== '');
  return (
    <ChoiceField
      // Drops a text that was typed for another account.
      key={owner}
      of={found.isPlaceholderData ? undefined : found.data?.pages[0]?.data}
      isPartial={found.hasNextPage}
      disabled={owner === ''}
      hint={owner === '' ? t.accountFirst : hint}
      {...field}
    />
  );
}
