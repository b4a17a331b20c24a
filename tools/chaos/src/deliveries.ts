import type { FeedEvent } from '@perkway/domain';

/**
 * The events that a webhook must receive, and those that its receiver accepted, in the order of their arrival, with
 * repetitions.
 */
export interface Deliveries {
  webhook: string;
  isOrdered: boolean;
  /** In the order of the feed. */
  expected: readonly FeedEvent[];
  accepted: readonly FeedEvent[];
}

/** Returns the problems with the deliveries of a webhook. */
export function problemsOf({ webhook, isOrdered, expected, accepted }: Deliveries): string[] {
  const problems: string[] = [];
  const first = new Map<string, FeedEvent>();
  for (const event of accepted) if (!first.has(event.id)) first.set(event.id, event);
  const missing = expected.filter(({ id }) => !first.has(id));
  if (missing.length > 0)
    problems.push(
      `${missing.length} events were not delivered to ${webhook}; the first is ${missing[0]!.id}`,
    );
  const known = new Map(expected.map((event) => [event.id, JSON.stringify(event)]));
  for (const [id, event] of first)
    if (known.has(id) && known.get(id) !== JSON.stringify(event))
      problems.push(`event ${id} was delivered to ${webhook} with content that differs from the feed`);
  if (isOrdered) {
    const place = new Map(expected.map(({ id }, index) => [id, index]));
    const last = new Map<string, number>();
    for (const { id, subject } of first.values()) {
      const at = place.get(id);
      if (at === undefined) continue;
      if (at < (last.get(subject) ?? -1))
        problems.push(`event ${id} of ${subject} was delivered to ${webhook} out of order`);
      last.set(subject, Math.max(at, last.get(subject) ?? -1));
    }
  }
  return problems;
}
