import type { Health } from '../api/types';
import { formatList, formatNumber } from '../format';
import { texts } from '../texts';

const t = texts.health;
/** As in the alerts OutboxStuck and FeedBehind. */
const LATE_SECONDS = 300;

/** Lists the problems of apps, broker, outboxes and consumers, each as a part of a sentence. */
export function healthFindings({ apps, outbox, dead_letters, consumers }: Health): string[] {
  const isLate = ({ oldest_seconds }: { oldest_seconds: number | null }) =>
    (oldest_seconds ?? 0) > LATE_SECONDS;
  const findings: [names: string[], text: (names: string, count: number) => string][] = [
    [apps.filter(({ state }) => state !== 'up').map(({ name }) => name), t.unhealthy],
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
    ...(dead_letters === null ? [t.brokerAway] : []),
    ...(dead_letters ? [t.deadLettered(formatNumber(dead_letters), dead_letters)] : []),
  ];
}
