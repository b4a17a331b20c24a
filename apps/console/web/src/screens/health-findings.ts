import type { Health } from '../api/types';
import { formatList, formatNumber } from '../format';
import { texts } from '../texts';

const t = texts.health;
/** As in the alerts OutboxStuck, FeedBehind and DeliveriesLate. */
const LATE_SECONDS = 300;

export interface Finding {
  /** A part of a sentence. */
  text: string;
  /** That of the alert of the same problem, if there is one. */
  severity: 'critical' | 'warning';
  /** Epoch milliseconds, if known. */
  since?: number;
}
interface Aged {
  app: string;
  oldest_seconds: number | null;
}

/** Lists the problems of apps, databases, broker, outboxes, consumers and webhooks. */
export function healthFindings(health: Health): Finding[] {
  const { apps, broker, outbox, dead_letters, consumers, webhooks, checked_at } = health;
  const before = (seconds: number) => Date.parse(checked_at) - seconds * 1000;
  const found = (
    severity: Finding['severity'],
    text: (names: string, count: number) => string,
    names: string[],
  ) => (names.length > 0 ? [{ severity, text: text(formatList(names), names.length) }] : []);
  const late = (text: (names: string, count: number) => string, all: Aged[]) => {
    const aged = all.filter(({ oldest_seconds }) => (oldest_seconds ?? 0) > LATE_SECONDS);
    const since = before(Math.max(...aged.map(({ oldest_seconds }) => oldest_seconds!)));
    return found(
      'warning',
      text,
      aged.map(({ app }) => app),
    ).map((finding) => ({ ...finding, since }));
  };
  const inState = (wanted: Health['apps'][number]['state']) =>
    apps.filter(({ state }) => state === wanted).map(({ name }) => name);
  const overdue = webhooks?.overdue_seconds ?? 0;
  return [
    ...found('critical', t.down, inState('down')),
    ...found('warning', t.degraded, inState('degraded')),
    ...found(
      'critical',
      t.databaseAway,
      apps.filter(({ database }) => database === false).map(({ name }) => name),
    ),
    ...(broker.available ? [] : [{ severity: 'critical' as const, text: t.brokerAway }]),
    ...found(
      'critical',
      t.inMemory,
      outbox.filter(({ buffered }) => buffered > 0).map(({ app }) => app),
    ),
    ...late(t.outboxLate, outbox),
    // The age is measured less often than the messages are counted.
    ...late(
      t.consumerLate,
      consumers.filter(({ pending }) => pending !== 0),
    ),
    ...(overdue > LATE_SECONDS
      ? [{ severity: 'warning' as const, text: t.deliveriesLate, since: before(overdue) }]
      : []),
    ...(dead_letters
      ? [{ severity: 'warning' as const, text: t.deadLettered(formatNumber(dead_letters), dead_letters) }]
      : []),
  ];
}
