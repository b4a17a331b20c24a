import type { Attempt, Operation } from './load.js';

/** The rows of a run in the databases. */
export interface Stored {
  /** Number of events by their `utm_content`, which is the attempt id. */
  events: ReadonlyMap<string, number>;
  /** Number of reward-link events by `<link>:<state>`. */
  linkEvents: ReadonlyMap<string, number>;
  /** Reward links by `created_by`, which is the attempt id. */
  links: ReadonlyMap<string, readonly StoredLink[]>;
}
export interface StoredLink {
  id: string;
  isRevealed: boolean;
  isCancelled: boolean;
}

export interface Sum {
  attempted: number;
  acknowledged: number;
  /** Acknowledged but not stored. */
  lost: number;
  /** Stored more than once, acknowledged or not. */
  duplicated: number;
}

export interface Reconciliation {
  /** By phase of the run, then by operation. */
  sums: Map<number, Map<Operation, Sum>>;
  /** The first lost or duplicated attempts. */
  examples: string[];
}

const EVENTS: ReadonlySet<Operation> = new Set(['read', 'click', 'pixel', 'outreach', 'conversion']);
const STATES: Partial<Record<Operation, string>> = {
  generate: 'generated',
  reveal: 'revealed',
  cancel: 'cancelled',
};
const EXAMPLES = 20;

/**
 * Returns how often the effect of an attempt is stored: 1 if all is right. For a reward link, checks the row first,
 * then its event.
 */
function timesStored(attempt: Attempt, stored: Stored, linkOf: ReadonlyMap<string, StoredLink>): number {
  const { operation, id, linkId } = attempt;
  if (EVENTS.has(operation)) return stored.events.get(id) ?? 0;
  const state = STATES[operation];
  // Other operations (session, token, query) store nothing that can be checked.
  if (!state) return attempt.acknowledgedAt === undefined ? 0 : 1;
  if (operation === 'generate') {
    const links = stored.links.get(id) ?? [];
    if (links.length !== 1) return links.length;
    // The acknowledged link must be the stored one.
    if (linkId !== undefined && links[0]!.id !== linkId) return 0;
    return stored.linkEvents.get(`${links[0]!.id}:${state}`) ?? 0;
  }
  const link = linkOf.get(linkId!);
  const isThere = operation === 'reveal' ? link?.isRevealed : link?.isCancelled;
  return isThere ? (stored.linkEvents.get(`${linkId}:${state}`) ?? 0) : 0;
}

/** Compares acknowledged attempts with stored rows. An unacknowledged attempt may be stored or not, but not twice. */
export function reconcile(attempts: readonly Attempt[], stored: Stored): Reconciliation {
  const sums: Reconciliation['sums'] = new Map();
  const examples: string[] = [];
  const linkOf = new Map([...stored.links.values()].flat().map((link) => [link.id, link]));
  for (const attempt of attempts) {
    const { operation, phase } = attempt;
    const ofPhase = sums.get(phase) ?? new Map<Operation, Sum>();
    sums.set(phase, ofPhase);
    const sum = ofPhase.get(operation) ?? { attempted: 0, acknowledged: 0, lost: 0, duplicated: 0 };
    ofPhase.set(operation, sum);
    const times = timesStored(attempt, stored, linkOf);
    const isAcknowledged = attempt.acknowledgedAt !== undefined;
    const [isLost, isDuplicated] = [isAcknowledged && times === 0, times > 1];
    sum.attempted += 1;
    sum.acknowledged += Number(isAcknowledged);
    sum.lost += Number(isLost);
    sum.duplicated += Number(isDuplicated);
    if ((isLost || isDuplicated) && examples.length < EXAMPLES)
      examples.push(`${isLost ? 'lost' : 'duplicated'}: ${operation} ${attempt.linkId ?? attempt.id}`);
  }
  return { sums, examples };
}

/** Returns the longest time in [from, to] without an acknowledgment of an operation, in milliseconds. */
export function longestSilence(
  attempts: readonly Attempt[],
  operation: Operation,
  from: number,
  to: number,
): number {
  const times = attempts
    .filter((attempt) => attempt.operation === operation && attempt.acknowledgedAt !== undefined)
    .map(({ acknowledgedAt }) => acknowledgedAt!)
    .filter((at) => at >= from && at <= to)
    .sort((one, other) => one - other);
  return [...times, to].reduce(
    ({ last, longest }, at) => ({ last: at, longest: Math.max(longest, at - last) }),
    { last: from, longest: 0 },
  ).longest;
}
