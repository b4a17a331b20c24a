import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { get, type Page } from '../api/http';
import { LINKS_KEY, useLink } from '../api/reward-links';
import type { AuditEntry, RewardLink } from '../api/types';
import { formatMoment, formatMoney } from '../format';
import { CopyButton } from '../parts/copy-button';
import { Dialog } from '../parts/dialog';
import { Facts } from '../parts/facts';
import { Loaded } from '../parts/loaded';
import { texts } from '../texts';

const t = texts.rewardLinks;
/** The longest time between the cancellation and the new link, if replacing the link cancelled it. */
const REPLACING_MS = 10_000;

interface Moment {
  at: string;
  what: string;
  who?: string | null;
  /** The other link that it is about. */
  other?: string;
  note?: string | null;
}

/** What happened to the link, the oldest first. */
function momentsOf(link: RewardLink, successor: RewardLink | undefined, canceller: string | null): Moment[] {
  const { created_at, created_by, revealed_at, cancelled_at, withdrawn_at, expires_at } = link;
  const moments: Moment[] = [
    {
      at: created_at,
      what: link.replaces ? t.timeline.madeInPlace : t.timeline.made,
      who: created_by,
      ...(link.replaces && { other: link.replaces, note: link.replacement_reason }),
    },
  ];
  if (revealed_at) moments.push({ at: revealed_at, what: t.timeline.opened, who: t.timeline.recipient });
  if (withdrawn_at) moments.push({ at: withdrawn_at, what: t.timeline.withdrawn });
  if (cancelled_at) {
    const wasReplacing =
      successor && Date.parse(successor.created_at) - Date.parse(cancelled_at) < REPLACING_MS;
    const who = canceller ?? (wasReplacing ? successor.created_by : null);
    moments.push({ at: cancelled_at, what: t.timeline.cancelled, who });
  } else if (link.state === 'EXPIRED')
    moments.push({ at: new Date(expires_at * 1000).toISOString(), what: t.timeline.expired });
  if (successor)
    moments.push({
      at: successor.created_at,
      what: t.timeline.replaced,
      who: successor.created_by,
      other: successor.id,
      note: successor.replacement_reason,
    });
  return moments.sort((one, other) => one.at.localeCompare(other.at));
}

/** Names who cancelled the link in the console. */
const useCanceller = (link: RewardLink | undefined) =>
  useQuery({
    queryKey: [...LINKS_KEY, 'canceller', link?.id],
    enabled: Boolean(link?.cancelled_at),
    queryFn: async ({ signal }) => {
      const query = { kind: 'reward-links', object: link!.id };
      const { data } = await get<Page<AuditEntry>>('/api/audit-log', query, signal);
      const entry = data.find(({ path, status }) => path.endsWith('/cancel') && status === 200);
      return entry ? (entry.person ?? texts.auditLog.byKey(entry.actor)) : null;
    },
  });

interface Props {
  linkId: string | null;
  nameOfPool: (id: string) => string;
  nameOfCampaign: (id: string | null) => string;
  /** Opens another link, or closes the drawer. */
  onShow: (linkId: string | null) => void;
  actions: (link: RewardLink) => React.ReactNode;
}

/** Everything about one link, with what happened to it. */
export function LinkDrawer({ linkId, nameOfPool, nameOfCampaign, onShow, actions }: Props) {
  const link = useLink(linkId);
  const successor = useLink(link.data?.replaced_by ?? null);
  const canceller = useCanceller(link.data);
  const close = () => onShow(null);
  const other = (id: string) => (
    <button type="button" className="link-button" onClick={() => onShow(id)}>
      {t.link(id.slice(0, 8))}
    </button>
  );
  return (
    <Dialog title={t.drawerTitle} isOpen={linkId !== null} onClose={close} size="drawer">
      <Loaded query={link} lines={8}>
        {(shown) => (
          <>
            <p className="headline">
              {formatMoney(shown.denomination, shown.currency)} <LinkStateBadges link={shown} />
            </p>
            <ol className="timeline" aria-label={t.timeline.title}>
              {momentsOf(shown, successor.data, canceller.data ?? null).map((moment) => (
                <li key={`${moment.at}${moment.what}`}>
                  <time dateTime={moment.at}>{formatMoment(moment.at)}</time>
                  <strong>{moment.what}</strong>
                  {moment.other && other(moment.other)}
                  {moment.who && <span>{t.timeline.by(moment.who)}</span>}
                  {moment.note && <span className="hint">{t.timeline.because(moment.note)}</span>}
                </li>
              ))}
            </ol>
            <Facts
              of={[
                [t.reference, shown.reference],
                [t.id, <code key="id">{shown.id}</code>],
                [t.pool, nameOfPool(shown.pool_id)],
                [t.country, shown.country],
                [
                  t.campaign,
                  shown.campaign_id && (
                    <Link key="campaign" to={`/campaigns/${encodeURIComponent(shown.campaign_id)}`}>
                      {nameOfCampaign(shown.campaign_id)}
                    </Link>
                  ),
                ],
                [t.journey, shown.journey_id],
                [t.ends, shown.state === 'RESERVED' && formatMoment(shown.expires_at * 1000)],
              ]}
            />
            {canceller.data === null &&
              !shown.withdrawn_at &&
              momentsOf(shown, successor.data, null).some(
                ({ what, who }) => what === t.timeline.cancelled && !who,
              ) && <p className="hint">{t.cancelledByApi}</p>}
            <div className="dialog-actions">
              <button type="button" className="button" onClick={close}>
                {texts.close}
              </button>
              <CopyButton text={shown.id} label={t.copyId} isMain={shown.replaced_by !== null} />
              {actions(shown)}
            </div>
          </>
        )}
      </Loaded>
      {!link.data && (
        <div className="dialog-actions">
          <button type="button" className="button" onClick={close}>
            {texts.close}
          </button>
        </div>
      )}
    </Dialog>
  );
}

export function LinkStateBadges({ link }: { link: RewardLink }) {
  const tone = { RESERVED: 'warn', REVEALED: '', EXPIRED: 'plain' }[link.state];
  return (
    <>
      <span className={`badge ${tone}`}>{link.cancelled_at ? t.cancelled : t.states[link.state]}</span>
      {link.replaced_by && (
        <>
          {' '}
          <span className="badge plain">{t.replaced}</span>
        </>
      )}
      {link.replaces && (
        <>
          {' '}
          <span className="badge plain">{t.replacement}</span>
        </>
      )}
    </>
  );
}
