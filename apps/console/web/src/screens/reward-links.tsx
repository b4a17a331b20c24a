import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCampaigns } from '../api/campaigns';
import { sendRequest, get, type Page } from '../api/http';
import { poolName, usePools } from '../api/pools';
import type { RewardLink } from '../api/types';
import { formatMoment, formatMoney } from '../format';
import { Confirm } from '../parts/dialog';
import { SelectField, TextField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Empty, Failed, Loading } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { ReplaceLink } from './replace-link';

const t = texts.rewardLinks;
const FILTERS = ['state', 'pool_id', 'campaign_id', 'reference', 'created_by'] as const;
const nameOf = ({ reference, id }: RewardLink) => reference ?? id.slice(0, 8);

export default function RewardLinks() {
  const client = useQueryClient();
  const { say } = useNotices();
  const pools = usePools();
  const campaigns = useCampaigns();
  const { valueOf, set: setFilter } = useSearchFilters();
  const [cancelling, setCancelling] = useState<RewardLink | null>(null);
  const [replacing, setReplacing] = useState<RewardLink | null>(null);
  const filters = Object.fromEntries(FILTERS.map((name) => [name, valueOf(name)]));
  const set = (name: (typeof FILTERS)[number]) => (value: string) => setFilter(name, value);
  const links = useInfiniteQuery({
    queryKey: ['reward-links', filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      get<Page<RewardLink>>('/api/gift/reward-links', { ...filters, cursor: pageParam, limit: 50 }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
    ...useLiveInterval(),
  });
  const rows = links.data?.pages.flatMap(({ data }) => data) ?? [];
  const nameOfPool = (id: string) => {
    const pool = pools.data?.find((one) => one.id === id);
    return pool ? poolName(pool) : id.slice(0, 8);
  };

  return (
    <Screen title={texts.nav.rewardLinks} intro={t.intro}>
      <Card>
        <div className="stack">
          <div className="form filters" role="search">
            <TextField
              label={t.find}
              type="search"
              hint={t.findHint}
              value={filters.reference}
              onValue={set('reference')}
            />
            <SelectField
              label={t.state}
              value={filters.state}
              options={[
                { value: '', label: t.anyState },
                ...Object.entries(t.states).map(([value, label]) => ({ value, label })),
              ]}
              onValue={set('state')}
            />
            <SelectField
              label={t.pool}
              value={filters.pool_id}
              options={[
                { value: '', label: t.anyPool },
                ...(pools.data ?? []).map((pool) => ({ value: pool.id, label: poolName(pool) })),
              ]}
              onValue={set('pool_id')}
            />
            <SelectField
              label={t.campaign}
              value={filters.campaign_id}
              options={[
                { value: '', label: t.anyCampaign },
                ...(campaigns.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
              ]}
              onValue={set('campaign_id')}
            />
          </div>
          {links.isPending && <Loading lines={6} />}
          {links.isError && <Failed error={links.error} retry={() => void links.refetch()} />}
          {links.isSuccess && rows.length === 0 && (
            <Empty title={t.emptyTitle}>
              <p>{t.emptyText}</p>
            </Empty>
          )}
          {rows.length > 0 && (
            <Table
              caption={texts.nav.rewardLinks}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { name: t.reference, isHead: true, cell: nameOf },
                {
                  name: t.value,
                  isNumber: true,
                  cell: ({ denomination, currency }) => formatMoney(denomination, currency),
                },
                { name: t.state, cell: (link) => <State link={link} /> },
                { name: t.pool, cell: ({ pool_id }) => nameOfPool(pool_id) },
                {
                  name: t.campaign,
                  cell: ({ campaign_id }) =>
                    campaigns.data?.find(({ id }) => id === campaign_id)?.name ?? campaign_id ?? texts.none,
                },
                { name: t.made, cell: ({ created_at }) => formatMoment(created_at) },
                {
                  name: t.ends,
                  cell: ({ expires_at, revealed_at }) =>
                    revealed_at ? texts.none : formatMoment(expires_at * 1000),
                },
                {
                  name: t.action,
                  cell: (link) =>
                    link.state === 'RESERVED' ? (
                      <button
                        type="button"
                        className="button danger small"
                        aria-label={t.cancelOf(nameOf(link))}
                        onClick={() => setCancelling(link)}
                      >
                        {t.cancel}
                      </button>
                    ) : (
                      link.state === 'REVEALED' &&
                      link.replaced_by === null && (
                        <button
                          type="button"
                          className="button small"
                          aria-label={t.replaceOf(nameOf(link))}
                          onClick={() => setReplacing(link)}
                        >
                          {t.replace}
                        </button>
                      )
                    ),
                },
              ]}
            />
          )}
          {links.hasNextPage && (
            <button
              type="button"
              className="button"
              disabled={links.isFetchingNextPage}
              onClick={() => void links.fetchNextPage()}
            >
              {texts.more}
            </button>
          )}
        </div>
      </Card>
      {replacing && (
        <ReplaceLink
          link={replacing}
          name={nameOf(replacing)}
          value={formatMoney(replacing.denomination, replacing.currency)}
          onClose={() => setReplacing(null)}
        />
      )}
      <Confirm
        title={t.cancelTitle}
        text={
          cancelling &&
          t.cancelText(formatMoney(cancelling.denomination, cancelling.currency), nameOf(cancelling))
        }
        action={t.cancel}
        isOpen={cancelling !== null}
        onClose={() => setCancelling(null)}
        onConfirm={async () => {
          await sendRequest(`/api/gift/reward-links/${cancelling!.id}/cancel`, { method: 'POST' });
          say(t.cancelledNotice);
          await client.invalidateQueries({ queryKey: ['reward-links'] });
          void client.invalidateQueries({ queryKey: ['pools'] });
        }}
      />
    </Screen>
  );
}

function State({ link }: { link: RewardLink }) {
  const tone = { RESERVED: 'warn', REVEALED: '', EXPIRED: 'plain' }[link.state];
  return (
    <>
      <span className={`badge ${tone}`}>{link.cancelled_at ? t.cancelled : t.states[link.state]}</span>
      {link.revealed_at && <span className="hint"> {formatMoment(link.revealed_at)}</span>}
      {link.replaced_by && <span className="badge plain">{t.replaced}</span>}
      {link.replaces && <span className="hint"> {t.replacement(link.replacement_reason)}</span>}
    </>
  );
}
