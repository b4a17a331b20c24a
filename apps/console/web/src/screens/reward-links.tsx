import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { useCampaignNames, useCampaigns } from '../api/campaigns';
import { perkway, responseOf } from '../api/perkway';
import { poolName, usePoolNames, usePools } from '../api/pools';
import { useLinks } from '../api/reward-links';
import { refreshGiftCards } from '../api/stock';
import type { RewardLink } from '../api/types';
import { formatMoment, formatMoney } from '../format';
import { Confirm } from '../parts/dialog';
import { SelectField, TextField } from '../parts/fields';
import { Empty } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Pages } from '../parts/pages';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { LinkDrawer, LinkStateBadges } from './link-drawer';
import { ReplaceLink } from './replace-link';
import { useMakeLinks } from './use-make-links';

const t = texts.rewardLinks;
/** When the link was opened or cancelled; its last day no longer matters then. */
const endedAt = ({ revealed_at, cancelled_at }: RewardLink) => revealed_at ?? cancelled_at;
const nameOf = ({ reference, id }: RewardLink) => reference ?? id.slice(0, 8);

export default function RewardLinks() {
  const client = useQueryClient();
  const { say } = useNotices();
  const pools = usePools();
  const campaigns = useCampaigns();
  const { valueOf, set: setFilter } = useSearchFilters();
  const [cancelling, setCancelling] = useState<RewardLink | null>(null);
  const [replacing, setReplacing] = useState<RewardLink | null>(null);
  const filters = {
    reference: valueOf('reference').trim(),
    state: valueOf('state'),
    pool_id: valueOf('pool_id'),
    campaign_id: valueOf('campaign_id'),
    created_by: valueOf('created_by').trim(),
  };
  const set = (name: keyof typeof filters) => (value: string) => setFilter(name, value);
  const links = useLinks(filters);
  const isFiltered = Object.values(filters).some(Boolean);
  const isFirst = !isFiltered && !links.isPlaceholderData && links.data?.pages[0]?.data.length === 0;
  const make = useMakeLinks(pools.data);
  const nameOfPool = usePoolNames();
  const campaignName = useCampaignNames();
  const nameOfCampaign = (id: string | null) => (id === null ? texts.none : campaignName(id));
  /** What can be done about the link now: an expired link may be replaced too. */
  const actionsOf = (link: RewardLink, isDrawer = false) => {
    const canCancel = link.state === 'RESERVED';
    if (link.replaced_by !== null && !canCancel) return null;
    return (
      <span className="actions">
        {link.replaced_by === null && (
          <button
            type="button"
            className={isDrawer ? 'button main' : 'button small'}
            aria-label={t.replaceOf(nameOf(link))}
            onClick={() => setReplacing(link)}
          >
            {t.replaceShort}
          </button>
        )}
        {canCancel && (
          <button
            type="button"
            className={isDrawer ? 'button danger' : 'button danger small'}
            aria-label={t.cancelOf(nameOf(link))}
            onClick={() => setCancelling(link)}
          >
            {t.cancelShort}
          </button>
        )}
      </span>
    );
  };

  return (
    <Screen title={texts.nav.rewardLinks} intro={t.intro} actions={!isFirst && make.buttons}>
      <Card actions={<Link to="/gift-cards#link-jobs">{t.ofJobs}</Link>}>
        <div className="stack">
          <div className="form filters" role="search">
            <TextField
              label={t.find}
              type="search"
              hint={t.findHint}
              value={valueOf('reference')}
              maxLength={255}
              onValue={set('reference')}
            />
            <SelectField
              label={t.state}
              value={filters.state}
              any={t.anyState}
              options={{ ...t.states, EXPIRED: t.expiredOrCancelled }}
              onValue={set('state')}
            />
            <SelectField
              label={t.pool}
              value={filters.pool_id}
              any={t.anyPool}
              options={(pools.data ?? []).map((pool) => ({ value: pool.id, label: poolName(pool) }))}
              onValue={set('pool_id')}
            />
            <SelectField
              label={t.campaign}
              value={filters.campaign_id}
              any={t.anyCampaign}
              options={(campaigns.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              onValue={set('campaign_id')}
            />
            <TextField
              label={t.maker}
              type="search"
              hint={t.makerHint}
              value={valueOf('created_by')}
              maxLength={255}
              onValue={set('created_by')}
            />
          </div>
          <Pages
            query={links}
            empty={
              isFirst ? (
                <Empty title={t.firstTitle}>
                  <p>{pools.data?.length === 0 ? texts.giftCards.emptyText : t.firstText}</p>
                  <div className="actions">{make.buttons}</div>
                </Empty>
              ) : (
                <Empty title={t.emptyTitle} />
              )
            }
          >
            {(rows) => (
              <Table
                caption={texts.nav.rewardLinks}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: t.reference,
                    isHead: true,
                    cell: (link) => (
                      <button
                        type="button"
                        className="link-button"
                        aria-haspopup="dialog"
                        onClick={() => setFilter('link', link.id)}
                      >
                        {nameOf(link)}
                      </button>
                    ),
                  },
                  {
                    name: t.value,
                    isNumber: true,
                    cell: ({ denomination, currency }) => formatMoney(denomination, currency),
                  },
                  {
                    name: t.state,
                    cell: (link) => (
                      <>
                        <LinkStateBadges link={link} />
                        {endedAt(link) && <span className="hint"> {formatMoment(endedAt(link)!)}</span>}
                      </>
                    ),
                  },
                  { name: t.pool, cell: ({ pool_id }) => nameOfPool(pool_id) },
                  {
                    name: t.campaign,
                    cell: ({ campaign_id }) => nameOfCampaign(campaign_id),
                  },
                  {
                    name: t.made,
                    cell: ({ created_at, created_by }) => (
                      <>
                        {formatMoment(created_at)} <span className="hint">{t.timeline.by(created_by)}</span>
                      </>
                    ),
                  },
                  {
                    name: t.ends,
                    cell: (link) => (endedAt(link) ? texts.none : formatMoment(link.expires_at * 1000)),
                  },
                  { name: t.action, cell: (link) => actionsOf(link) },
                ]}
              />
            )}
          </Pages>
        </div>
      </Card>
      <LinkDrawer
        linkId={valueOf('link') || null}
        nameOfPool={nameOfPool}
        nameOfCampaign={nameOfCampaign}
        onShow={(id) => setFilter('link', id ?? '')}
        actions={(link) => actionsOf(link, true)}
      />
      {make.dialog}
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
          await responseOf(perkway.gift.cancelRewardLink({ linkId: cancelling!.id }));
          say(t.cancelledNotice);
          await refreshGiftCards(client);
        }}
      />
    </Screen>
  );
}
