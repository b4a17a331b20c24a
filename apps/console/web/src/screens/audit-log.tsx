import { download } from '../api/http';
import { useSession } from '../api/session';
import { dayOf, daysAgo, isDay, isoDay } from '../dates';
import { AccountField } from '../parts/account-field';
import { CopyButton } from '../parts/copy-button';
import { SelectField, TextField } from '../parts/fields';
import { Icon } from '../parts/icon';
import { useNotices } from '../parts/notices';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { texts } from '../texts';
import type { AuditQuery } from '../api/types';
import { AuditEntries } from './audit-entries';

const t = texts.auditLog;
const EXPORTED_DAYS = 30;

/** Returns midnight at the start of the day, or of a day some days later, in the user's time zone. */
function midnight(day: string, daysLater = 0): string {
  const date = dayOf(day);
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
}

export default function AuditLog() {
  const { say } = useNotices();
  const { valueOf, set } = useSearchFilters();
  const [from, to] = [valueOf('from'), valueOf('to')];
  const { role } = useSession();
  const oneOf = <Name extends string>(name: string, values: Record<Name, string>) =>
    (Object.keys(values) as Name[]).find((value) => value === valueOf(name));
  const filters: AuditQuery = {
    account: valueOf('account') || undefined,
    outcome: oneOf('outcome', t.outcomes),
    person: valueOf('person') || undefined,
    object: valueOf('object').trim() || undefined,
    kind: oneOf('kind', t.kinds),
    from: isDay(from) ? midnight(from) : undefined,
    to: isDay(to) ? midnight(to, 1) : undefined,
  };
  const save = () => {
    // An export needs a start time.
    const query = { ...filters, from: filters.from ?? midnight(daysAgo(EXPORTED_DAYS)) };
    const name = `audit-log-${isDay(from) ? from : daysAgo(EXPORTED_DAYS)}-${isDay(to) ? to : isoDay(new Date())}.ndjson`;
    download('/api/audit-log/export', name, { query }).catch((error: Error) => say(error.message, 'bad'));
  };
  return (
    <Screen
      title={texts.nav.auditLog}
      intro={role === 'ADMIN' ? t.intro : t.introOfAccount}
      actions={
        <>
          <CopyButton label={texts.copyLink} text={location.href} />
          <button type="button" className="button" onClick={save}>
            <Icon name="download" /> {t.export}
          </button>
        </>
      }
    >
      <Card className="dense" note={t.exportNote}>
        <div className="stack">
          <div className="form filters" role="search">
            {role === 'ADMIN' && (
              <AccountField
                any={texts.anyAccount}
                value={valueOf('account')}
                onValue={(value) => set('account', value)}
              />
            )}
            <TextField
              label={t.person}
              type="search"
              hint={t.personHint}
              maxLength={255}
              value={valueOf('person')}
              onValue={(value) => set('person', value)}
            />
            <TextField
              label={t.object}
              type="search"
              hint={t.objectHint}
              maxLength={255}
              value={valueOf('object')}
              onValue={(value) => set('object', value)}
            />
            <SelectField
              label={t.kind}
              value={filters.kind ?? ''}
              any={t.anyKind}
              options={t.kinds}
              onValue={(value) => set('kind', value)}
            />
            <SelectField
              label={t.outcome}
              value={filters.outcome ?? ''}
              any={t.anyOutcome}
              options={t.outcomes}
              onValue={(value) => set('outcome', value)}
            />
            <TextField label={t.from} type="date" value={from} onValue={(value) => set('from', value)} />
            <TextField label={t.to} type="date" value={to} onValue={(value) => set('to', value)} />
          </div>
          <AuditEntries caption={texts.nav.auditLog} filters={filters} />
        </div>
      </Card>
    </Screen>
  );
}
