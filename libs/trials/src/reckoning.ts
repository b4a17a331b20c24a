import type { Attempt, Surface } from './load.js';

/** What the databases hold: how often each thing that was planted is there. */
export interface Stored {
  /** Events by what was planted in their `utm_content`. */
  events: ReadonlyMap<string, number>;
  /** Events of reward links by `<link>:<state>`. */
  linkEvents: ReadonlyMap<string, number>;
  /** Reward links by who created them. */
  links: ReadonlyMap<string, readonly StoredLink[]>;
}
export interface StoredLink {
  id: string;
  isRevealed: boolean;
  isCancelled: boolean;
}

export interface Sum {
  attempted: number;
  answered: number;
  /** Answered, and not there. */
  lost: number;
  /** There more than once, answered or not. */
  doubled: number;
}

export interface Reckoning {
  /** By phase of the run, then by surface. */
  sums: Map<number, Map<Surface, Sum>>;
  /** Ids of what was lost or doubled, the first few. */
  examples: string[];
}

const EVENTS: ReadonlySet<Surface> = new Set(['read', 'click', 'pixel', 'outreach', 'conversion']);
const STATES: Partial<Record<Surface, string>> = {
  generate: 'generated',
  reveal: 'revealed',
  cancel: 'cancelled',
};
const EXAMPLES = 20;

/** How often what an attempt is about is stored; where several things have to be, the one that is wrong. */
function timesStored(attempt: Attempt, stored: Stored, linkOf: ReadonlyMap<string, StoredLink>): number {
  const { surface, id, linkId } = attempt;
  if (EVENTS.has(surface)) return stored.events.get(id) ?? 0;
  const state = STATES[surface];
  if (!state) return attempt.answeredAt === undefined ? 0 : 1;
  if (surface === 'generate') {
    const links = stored.links.get(id) ?? [];
    if (links.length !== 1) return links.length;
    // What was answered is what is there.
    if (linkId !== undefined && links[0]!.id !== linkId) return 0;
    return stored.linkEvents.get(`${links[0]!.id}:${state}`) ?? 0;
  }
  const link = linkOf.get(linkId!);
  const isThere = surface === 'reveal' ? link?.isRevealed : link?.isCancelled;
  return isThere ? (stored.linkEvents.get(`${linkId}:${state}`) ?? 0) : 0;
}

/** Holds what was answered against what is stored. Without an answer a thing may be there or not, but not twice. */
export function reckon(attempts: readonly Attempt[], stored: Stored): Reckoning {
  const sums: Reckoning['sums'] = new Map();
  const examples: string[] = [];
  const linkOf = new Map([...stored.links.values()].flat().map((link) => [link.id, link]));
  for (const attempt of attempts) {
    const { surface, phase } = attempt;
    const ofPhase = sums.get(phase) ?? new Map<Surface, Sum>();
    sums.set(phase, ofPhase);
    const sum = ofPhase.get(surface) ?? { attempted: 0, answered: 0, lost: 0, doubled: 0 };
    ofPhase.set(surface, sum);
    const times = timesStored(attempt, stored, linkOf);
    const isAnswered = attempt.answeredAt !== undefined;
    const [isLost, isDoubled] = [isAnswered && times === 0, times > 1];
    sum.attempted += 1;
    sum.answered += Number(isAnswered);
    sum.lost += Number(isLost);
    sum.doubled += Number(isDoubled);
    if ((isLost || isDoubled) && examples.length < EXAMPLES)
      examples.push(`${isLost ? 'lost' : 'doubled'}: ${surface} ${attempt.linkId ?? attempt.id}`);
  }
  return { sums, examples };
}

/** The longest time in [from, to] in which a surface gave nobody an answer, in milliseconds. */
export function longestSilence(
  attempts: readonly Attempt[],
  surface: Surface,
  from: number,
  to: number,
): number {
  const times = attempts
    .filter((attempt) => attempt.surface === surface && attempt.answeredAt !== undefined)
    .map(({ answeredAt }) => answeredAt!)
    .filter((at) => at >= from && at <= to)
    .sort((one, other) => one - other);
  return [...times, to].reduce(
    ({ last, longest }, at) => ({ last: at, longest: Math.max(longest, at - last) }),
    { last: from, longest: 0 },
  ).longest;
}
