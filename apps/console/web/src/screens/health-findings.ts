import type { Health } from '../api/types';
import { formatList, formatNumber } from '../format';
import { texts } from '../texts';

const t = texts.health;
/** As in the alerts OutboxStuck, FeedBehind and DeliveriesLate. */
const LATE_SECONDS = 300;

/** Lists the problems of apps, databases, broker, outboxes, consumers and webhooks, each as a part of a sentence. */
export function healthFindings({
  apps,
  broker,
  outbox,
  dead_letters,
  consumers,
  webhooks,
}: Health): string[] {
  const isLate = ({ oldest_seconds }: { oldest_seconds: number | null }) =>
    (oldest_seconds ?? 0) > LATE_SECONDS;
  const findings: [names: string[], text: (names: string, count: number) => string][] = [
    [apps.filter(({ state }) => state !== 'up').map(({ name }) => name), t.unhealthy],
    [apps.filter(({ database }) => database === false).map(({ name }) => name), t.databaseAway],
    [outbox.filter(isLate).map(({ app }) => app), t.outboxLate],
    [outbox.filter(({ buffered }) => buffered > 0).map(({ app }) => app), t.inMemory],
    // The age is measured less often than the messages are counted.
    [
      consumers.filter((consumer) => consumer.pending !== 0 && isLate(consumer)).map(({ app }) => app),
      t.consumerLate,
    ],
  ];
  return [
    ...findings.flatMap(([names, text]) => (names.length > 0 ? [text(formatList(names), names.length)] : [])),
    ...(broker.available ? [] : [t.brokerAway]),
    ...((webhooks?.overdue_seconds ?? 0) > LATE_SECONDS ? [t.deliveriesLate] : []),
    ...(dead_letters ? [t.deadLettered(formatNumber(dead_letters), dead_letters)] : []),
  ];
}
