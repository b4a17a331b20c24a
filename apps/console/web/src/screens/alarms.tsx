import { Link } from 'react-router';
import { formatMoment } from '../format';
import type { Finding } from '../health-findings';
import { Card } from '../parts/screen';
import { Table, type Column } from '../parts/table';
import { ViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';
import { WhatToDo } from './what-to-do';

const t = texts.alarms;

export interface Alarm extends Finding {
  /** Path of the screen to show, or `#id` of a list on this screen. */
  to?: string;
  /** The account in whose console `to` is; by default, it is in the operator's own. */
  client?: string;
  /** What the link to it does. */
  action?: string;
}

export const Severity = ({ of }: { of: Alarm['severity'] }) => (
  <span className={`badge ${of === 'critical' ? 'bad' : 'warn'}`}>{t.severities[of]}</span>
);

function Action({ alert, to, client, action, where }: Alarm) {
  if (alert) return <WhatToDo about={alert} />;
  if (to === undefined || action === undefined) return null;
  if (client !== undefined) return <ViewAsClient id={client} name={where} to={to} action={action} />;
  const label = t.actionOf(action, where);
  // A link within this screen needs no navigation.
  return to.startsWith('#') ? (
    <a href={to} aria-label={label}>
      {action}
    </a>
  ) : (
    <Link to={to} aria-label={label}>
      {action}
    </Link>
  );
}

/**
 * Lists what needs attention, the critical first: what, where, since when, and what to do. Announces only the number of
 * rows, because times change every minute.
 */
export const Alarms = ({ of, none }: { of: Alarm[]; none: string }) => (
  <>
    <p role="status" className={of.length === 0 ? 'headline' : 'sr'}>
      {of.length === 0 ? none : t.count(of.length)}
    </p>
    {of.length > 0 && <AlarmTable of={of} />}
  </>
);

const SINCE: Column<Alarm> = {
  name: t.since,
  cell: ({ since, isFirstSeen }) =>
    since === undefined ? t.notRecorded : (isFirstSeen ? t.firstSeen : String)(formatMoment(since)),
};

const AlarmTable = ({ of }: { of: Alarm[] }) => (
  <Card title={t.title}>
    <Table
      caption={t.title}
      rows={of.toSorted(
        (one, other) => Number(one.severity === 'warning') - Number(other.severity === 'warning'),
      )}
      keyOf={({ what, where, to }) => `${what} ${where} ${to ?? ''}`}
      columns={[
        {
          name: t.what,
          isHead: true,
          cell: ({ severity, what }) => (
            <>
              <Severity of={severity} /> {what}
            </>
          ),
        },
        { name: t.where, cell: ({ where }) => where },
        ...(of.some(({ since }) => since !== undefined) ? [SINCE] : []),
        { name: t.action, cell: Action },
      ]}
    />
  </Card>
);
