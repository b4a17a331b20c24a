import type { Alert } from './alerts';
import type { Health } from './api/types';
import { formatNumber } from './format';
import { texts } from './texts';

const t = texts.health;
/** As in the alerts OutboxStuck, FeedBehind and DeliveriesLate. IngestBehind counts messages instead. */
const LATE_SECONDS = 300;
/** As in the alert ErasureStuck. */
const STUCK_SECONDS = 3600;

export interface Finding {
  what: string;
  where: string;
  /** That of the alert of the same problem, if there is one. */
  severity: 'critical' | 'warning';
  /** When it began, if known. */
  since?: number | string;
  /** Whether the response does not say when it began. `since` is then when this window first saw it. */
  isFirstSeen?: boolean;
  /** The alert of the same problem, which docs/operations.md explains. */
  alert?: Alert;
}

/** Lists the problems of apps, databases, broker, outboxes, consumers, webhooks and erasures. */
export function healthFindings(health: Health): Finding[] {
  const { apps, broker, outbox, consumers, webhooks, checked_at } = health;
  const findings: Finding[] = [];
  const add = (
    isFound: boolean,
    severity: Finding['severity'],
    what: string,
    where: string,
    more?: Pick<Finding, 'alert' | 'since' | 'isFirstSeen'>,
  ) => {
    if (isFound) findings.push({ severity, what, where, ...more });
  };
  const addLate = (
    seconds: number | null | undefined,
    most: number,
    what: string,
    where: string,
    alert: Alert,
  ) => {
    const age = seconds ?? 0;
    add(age > most, 'warning', what, where, { alert, since: Date.parse(checked_at) - age * 1000 });
  };
  for (const { name, state, database } of apps) {
    add(state === 'down', 'critical', t.down(t.effects[name]), name, {
      alert: 'AppDown',
      isFirstSeen: true,
    });
    add(state === 'degraded', 'warning', t.states.degraded, name, { isFirstSeen: true });
    add(database === false, 'critical', t.databaseAway, name, { isFirstSeen: true });
  }
  add(!broker.available, 'critical', t.noResponse, t.brokerName, {
    alert: 'BrokerAway',
    isFirstSeen: true,
  });
  for (const { app, buffered, oldest_seconds } of outbox) {
    add(buffered > 0, 'critical', t.inMemory, app, { alert: 'EventsAtRisk' });
    addLate(oldest_seconds, LATE_SECONDS, t.outboxLate, app, 'OutboxStuck');
  }
  for (const { app, pending, oldest_seconds } of consumers)
    // The age is measured less often than the messages are counted.
    if (pending !== 0)
      addLate(
        oldest_seconds,
        LATE_SECONDS,
        t.consumerLate,
        app,
        app === 'analytics-ingest' ? 'IngestBehind' : 'FeedBehind',
      );
  addLate(webhooks?.overdue_seconds, LATE_SECONDS, t.deliveriesLate, 'events', 'DeliveriesLate');
  addLate(health.erasures_oldest_seconds, STUCK_SECONDS, t.erasureStuck, 'token-issuer', 'ErasureStuck');
  const dead = health.dead_letters ?? 0;
  add(dead > 0, 'warning', t.deadLettered(formatNumber(dead), dead), t.brokerName, { alert: 'EventsDead' });
  return findings;
}
