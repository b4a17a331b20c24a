import { slugOf } from '@perkway/domain/slug';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { ACCOUNTS } from '../api/managed';
import { useOperatorsHome } from '../api/operators-home';
import { useSession } from '../api/session';
import type { Account, PutAccount } from '../api/types';
import { formatMoment, formatNumber } from '../format';
import { NoBrand } from '../parts/account-field';
import { Ago } from '../parts/ago';
import { TrafficChange } from '../parts/change';
import { TextArea, TextField } from '../parts/fields';
import { Keys } from '../parts/keys';
import { Facts } from '../parts/facts';
import { Loaded } from '../parts/loaded';
import { LogoField } from '../parts/logo-field';
import { Card, Screen } from '../parts/screen';
import { ResourceEditor } from '../parts/resource-editor';
import { ViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';
import { Holdings } from './holdings';
import { People, usePeople } from './people';

const t = texts.accounts;

const brandNameOf = ({ brandName, name }: Draft) => brandName ?? name;

interface Draft {
  name: string;
  allowed_origins: string;
  /** Null until one is typed: the name of a new account is also that for recipients. */
  brandName: string | null;
  color: string;
  support_url: string;
  logo: string | null;
  approvalLinks: string;
  approvalAmounts: string;
}
const BLANK: Draft = {
  name: '',
  allowed_origins: '',
  brandName: null,
  color: '',
  support_url: '',
  logo: null,
  approvalLinks: '',
  approvalAmounts: '',
};

/** Reads lines such as `EUR 5000`. The server rejects what is not a currency or an amount. */
const readAmounts = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [currency = '', ...amount] = line.split(/\s+/);
      return { currency, amount: Number(amount.join('') || NaN) };
    });

export default function AccountScreen() {
  const { accountId = '' } = useParams();
  const navigate = useNavigate();
  const { keyId } = useSession();
  const id = accountId === 'new' ? null : accountId;
  const [name, setName] = useState<string | null>(null);
  return (
    <Screen
      title={id === null ? t.create : (name ?? id)}
      intro={id !== null && name && <code>{id}</code>}
      back={{ to: '/accounts', label: texts.nav.accounts }}
      actions={
        id !== null && (
          <>
            <ViewAsClient id={id} />
            <Link className="button" to={`/audit-log?account=${encodeURIComponent(id)}`}>
              {texts.nav.auditLog}
            </Link>
            <Link className="button" to={`/accounts/${encodeURIComponent(id)}/erasures`}>
              {texts.erasures.erase}
            </Link>
          </>
        )
      }
    >
      {id !== null && (
        <>
          <NoBrand id={id}>
            <a href="#settings">{t.setBrand}</a>
          </NoBrand>
          <Traffic accountId={id} />
          <Holdings accountId={id} />
          <Keys
            path={`/api/token/admin/accounts/${encodeURIComponent(id)}/keys`}
            roles={['USER', 'JOURNEY', 'ADMIN']}
            ownKeyId={keyId}
          />
          <People accountId={id} />
          <h2 id="settings">{t.settings}</h2>
        </>
      )}
      <ResourceEditor<Account, Draft, PutAccount>
        key={accountId}
        kind={ACCOUNTS}
        id={id}
        nameOf={(stored) => stored.name}
        onNamed={setName}
        makeId={({ name }) => slugOf(name)}
        blank={BLANK}
        toDraft={({ name, allowed_origins, brand, approvals }) => ({
          name,
          allowed_origins: allowed_origins.join('\n'),
          brandName: brand?.name ?? '',
          color: brand?.color ?? '',
          support_url: brand?.support_url ?? '',
          logo: brand?.logo ?? null,
          approvalLinks: String(approvals?.links ?? ''),
          approvalAmounts: (approvals?.amount ?? [])
            .map(({ currency, amount }) => `${currency} ${amount}`)
            .join('\n'),
        })}
        toBody={(draft) => ({
          name: draft.name,
          allowed_origins: draft.allowed_origins.split(/\s+/).filter(Boolean),
          brand: brandNameOf(draft)
            ? {
                name: brandNameOf(draft),
                color: draft.color || null,
                support_url: draft.support_url || null,
                logo: draft.logo,
              }
            : null,
          approvals: {
            links: draft.approvalLinks ? Number(draft.approvalLinks) : null,
            amount: readAmounts(draft.approvalAmounts),
          },
        })}
        fields={(draft, change, errorOf) => (
          <>
            <TextField
              label={t.name}
              required
              error={errorOf('name')}
              value={draft.name}
              onValue={(name) => change({ name })}
            />
            <TextField
              label={t.brandName}
              hint={t.brandHint}
              value={brandNameOf(draft)}
              onValue={(brandName) => change({ brandName })}
            />
            <TextArea
              label={t.origins}
              className="wide"
              hint={t.originsHint}
              error={errorOf('allowed_origins')}
              value={draft.allowed_origins}
              onValue={(allowed_origins) => change({ allowed_origins })}
            />
            <TextField
              label={t.color}
              hint={t.colorHint}
              error={errorOf('brand.color')}
              pattern="#[0-9a-fA-F]{6}"
              value={draft.color}
              onValue={(color) => change({ color })}
            />
            <LogoField label={t.logo} value={draft.logo} onValue={(logo) => change({ logo })} />
            <TextField
              label={t.supportUrl}
              hint={t.supportUrlHint}
              error={errorOf('brand.support_url')}
              type="url"
              value={draft.support_url}
              onValue={(support_url) => change({ support_url })}
            />
            <TextField
              label={t.approvalLinks}
              type="number"
              min={0}
              step={1}
              hint={t.approvalLinksHint}
              error={errorOf('approvals.links')}
              value={draft.approvalLinks}
              onValue={(approvalLinks) => change({ approvalLinks })}
            />
            <TextArea
              label={t.approvalAmounts}
              hint={t.approvalAmountsHint}
              error={errorOf('approvals.amount')}
              value={draft.approvalAmounts}
              onValue={(approvalAmounts) => change({ approvalAmounts })}
            />
            {id !== null && (draft.approvalLinks || draft.approvalAmounts) && <NoApprover accountId={id} />}
          </>
        )}
        onSaved={(saved) => id === null && void navigate(`/accounts/${encodeURIComponent(saved)}`)}
      />
    </Screen>
  );
}

/** Says whose jobs nobody can approve. Approving takes a person who did not make the job. */
function NoApprover({ accountId }: { accountId: string }) {
  const { signIn } = useSession();
  const { data } = usePeople(accountId);
  const people = signIn.oidc ? data : [];
  if (!people || people.length > 1) return null;
  return <p className="wide callout">{t.noApprover(people[0]?.email)}</p>;
}

/** What the account tracks now. */
function Traffic({ accountId }: { accountId: string }) {
  const home = useOperatorsHome();
  return (
    <Card title={t.traffic} note={t.trafficNote}>
      <Loaded query={home} lines={3}>
        {({ traffic, day_to }) => {
          const own = traffic.find(({ account_id }) => account_id === accountId);
          const last = own?.last_event_at ?? null;
          const [day, dayBefore] = [own?.day_events ?? 0, own?.day_events_before ?? 0];
          const [week, weekBefore] = [own?.events ?? 0, own?.events_before ?? 0];
          const changed = (count: number, before: number, hasNewer = false) => (
            <>
              {formatNumber(count)}
              {count !== before && (
                <>
                  {' '}
                  <TrafficChange {...{ count, before, hasNewer }} />
                </>
              )}
            </>
          );
          return (
            <Facts
              of={[
                [
                  texts.operatorsHome.lastEvent,
                  last ? (
                    <>
                      <Ago moment={last} /> ({formatMoment(last)})
                    </>
                  ) : (
                    t.noEvents
                  ),
                ],
                [texts.operatorsHome.day, changed(day, dayBefore, last !== null && last >= day_to)],
                [texts.operatorsHome.dayBefore, formatNumber(dayBefore)],
                [texts.operatorsHome.week, changed(week, weekBefore)],
                [texts.operatorsHome.weekBefore, formatNumber(weekBefore)],
              ]}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
