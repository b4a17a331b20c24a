import type { Alert } from '../alerts';
import type { Health } from '../api/types';
import { formatList, formatNumber } from '../format';
import { texts } from '../texts';

const t = texts.health;
/** As in the alerts OutboxStuck, FeedBehind and DeliveriesLate. IngestBehind counts messages instead. */
const LATE_SECONDS = 300;
/** As in the alert ErasureStuck. */
const STUCK_SECONDS = 3600;

export interface Finding {
  /** A part of a sentence. */
  text: string;
  /** That of the alert of the same problem, if there is one. */
  severity: 'critical' | 'warning';
  /** Epoch milliseconds, if known. */
  since?: number;
  /** The alert of the same problem, which docs/operations.md explains. */
  alert?: Alert;
}
type Text = (names: string, count: number) => string;
interface Aged {
  app: string;
  oldest_seconds: number | null;
}

/** Adds to the name of an app what happens while it is down. */
function withEffect(app: string): string {
  const [effect] = t.effects[app]?.split('.') ?? [];
  return effect ? `${app} (${effect.charAt(0).toLowerCase()}${effect.slice(1)})` : app;
}

/** Lists the problems of apps, databases, broker, outboxes, consumers, webhooks and erasures. */
export function healthFindings(health: Health): Finding[] {
  const { apps, broker, outbox, dead_letters, consumers, webhooks, checked_at } = health;
  const erasing = health.erasures_oldest_seconds ?? 0;
  const findings: Finding[] = [];
  const add = (
    isFound: boolean,
    severity: Finding['severity'],
    text: string,
    alert?: Alert,
    ageSeconds?: number,
  ) => {
    const since = ageSeconds === undefined ? undefined : Date.parse(checked_at) - ageSeconds * 1000;
    if (isFound) findings.push({ severity, text, alert, since });
  };
  const addNamed = (
    severity: Finding['severity'],
    text: Text,
    names: string[],
    alert?: Alert,
    ageSeconds?: number,
  ) => add(names.length > 0, severity, text(formatList(names), names.length), alert, ageSeconds);
  const addLate = (text: Text, all: Aged[], alert: Alert) => {
    const late = all.filter(({ oldest_seconds }) => (oldest_seconds ?? 0) > LATE_SECONDS);
    const oldest = late.reduce((age, { oldest_seconds }) => Math.max(age, oldest_seconds ?? 0), 0);
    const names = late.map(({ app }) => app);
    addNamed('warning', text, names, alert, oldest);
  };
  const namesOf = (isWanted: (app: Health['apps'][number]) => boolean) =>
    apps.filter(isWanted).map(({ name }) => name);
  const inMemory = outbox.filter(({ buffered }) => buffered > 0).map(({ app }) => app);
  // The age is measured less often than the messages are counted.
  const behind = consumers.filter(({ pending }) => pending !== 0);
  const overdue = webhooks?.overdue_seconds ?? 0;
  const dead = dead_letters ?? 0;
  addNamed('critical', t.down, namesOf(({ state }) => state === 'down').map(withEffect), 'AppDown');
  addNamed(
    'warning',
    t.degraded,
    namesOf(({ state }) => state === 'degraded'),
  );
  addNamed(
    'critical',
    t.databaseAway,
    namesOf(({ database }) => database === false),
  );
  add(!broker.available, 'critical', t.brokerAway, 'BrokerAway');
  addNamed('critical', t.inMemory, inMemory, 'EventsAtRisk');
  addLate(t.outboxLate, outbox, 'OutboxStuck');
  const isIngest = ({ app }: Aged) => app === 'analytics-ingest';
  addLate(t.consumerLate, behind.filter(isIngest), 'IngestBehind');
  addLate(
    t.consumerLate,
    behind.filter((consumer) => !isIngest(consumer)),
    'FeedBehind',
  );
  add(overdue > LATE_SECONDS, 'warning', t.deliveriesLate, 'DeliveriesLate', overdue);
  add(erasing > STUCK_SECONDS, 'warning', t.erasureStuck, 'ErasureStuck', erasing);
  add(dead > 0, 'warning', t.deadLettered(formatNumber(dead), dead), 'EventsDead');
  return findings;
}
