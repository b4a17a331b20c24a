import { Link } from 'react-router';
import { attributeOf } from '../attribute-of';
import {
  causeOf,
  compareRates,
  contributionsOf,
  deviationsOf,
  largestFall,
  perkContributionsOf,
  type PerkOutcomes,
  type Segment,
  type Total,
} from '../contributions';
import { formatPoints, formatShare, formatTerms } from '../format';
import { texts } from '../texts';

const t = texts.overview.verdict;
const c = texts.overview.changed;
const TONES = { better: '', worse: 'bad', same: 'plain', none: 'plain' };

/** One value of a breakdown, such as a source or a perk. */
interface Value {
  key: string;
  /** Null for journeys without a value. */
  value: string | null;
}

/** One value of a breakdown and how much it changed the rate; or the total. */
export interface ChangedPart extends Value {
  name: string | null;
  /** Journeys of the part, or those that clicked the perk or converted with it. */
  count: number;
  countBefore: number;
  rate: string | null;
  rateBefore: string | null;
  points: number;
  /** How much of `points` its rate caused; its share of the journeys caused the rest. Null for perks and the total. */
  fromRate: number | null;
  /** By how many standard deviations its rate changed; null if a period has no journeys. */
  deviations: number | null;
}

/** Returns how much each perk changed the rate of all journeys. */
export const changedPerks = (perks: (Value & PerkOutcomes)[], total: Total): ChangedPart[] =>
  perkContributionsOf(perks, total).map(({ key, value, name, reached, reachedBefore, points }) => ({
    key,
    value,
    name,
    count: reached,
    countBefore: reachedBefore,
    rate: formatShare(reached, total.journeys),
    rateBefore: formatShare(reachedBefore, total.journeysBefore),
    points,
    fromRate: null,
    deviations: deviationsOf({ ...total, reached, reachedBefore }),
  }));

/** Returns how much each source, campaign or segment changed the rate over all of them. */
export const changedParts = (parts: (Value & Segment)[]): ChangedPart[] =>
  contributionsOf(parts.filter(({ journeys, journeysBefore }) => journeys + journeysBefore > 0)).map(
    (part) => ({
      key: part.key,
      value: part.value,
      name: part.value === null ? null : part.name,
      count: part.journeys,
      countBefore: part.journeysBefore,
      rate: formatShare(part.reached, part.journeys),
      rateBefore: formatShare(part.reachedBefore, part.journeysBefore),
      points: part.points,
      fromRate: part.fromRate,
      deviations: deviationsOf(part),
    }),
  );

/** The word for one part of a breakdown, such as "source". */
export const partWord = (breakdown: string): string =>
  attributeOf(breakdown) ?? c.words[breakdown] ?? breakdown;

/** The name of a part in a table. Journeys without a value are named after the parameter that they lack. */
export function PartName({ breakdown, name, to }: { breakdown: string; name: string | null; to?: string }) {
  const text = name ?? c.noPart(partWord(breakdown));
  return (
    <>
      {to ? <Link to={to}>{text}</Link> : text}
      {name === null && <span className="hint"> {c.without(breakdown)}</span>}
    </>
  );
}

interface Props {
  outcome: keyof typeof t.reached;
  total: Total;
  changes: { breakdown: string; parts: ChangedPart[] }[];
  /** Whether `total` leaves out journeys that got only a reward link. */
  leavesOut: boolean;
  isComplete?: boolean;
}

/** Says whether a rate got better or worse, which parts made most of the change, and which lowered the rate most. */
export function RateVerdict({ outcome, total, changes, leavesOut, isComplete = true }: Props) {
  const { journeys, reached, journeysBefore, reachedBefore } = total;
  const verdict = compareRates(total);
  const change = reached / journeys - reachedBefore / journeysBefore;
  const causes = changes.flatMap(({ breakdown, parts }) => {
    const cause = verdict === 'better' || verdict === 'worse' ? causeOf(parts, change, journeys) : undefined;
    const isOffset = (cause?.next?.points ?? 0) * change < 0;
    const fall = largestFall(parts, journeys);
    const named = [
      { part: cause?.main, role: t.roles.main },
      { part: cause?.next, role: isOffset ? t.roles.offset : t.roles.next },
      { part: fall === cause?.main || fall === cause?.next ? undefined : fall, role: t.roles.fall },
    ];
    return named.flatMap(({ part, role }) => (part ? { ...part, breakdown, role } : []));
  });
  const split = causes.flatMap(({ name, breakdown, points, fromRate }) =>
    fromRate === null
      ? []
      : t.split(
          name ?? c.noPart(partWord(breakdown)),
          formatPoints(points),
          ...formatTerms(points, fromRate),
        ),
  );
  return (
    <div data-verdict={verdict ?? 'none'} data-outcome={outcome} aria-busy={!isComplete}>
      <p>
        <span className={`badge ${TONES[verdict ?? 'none']}`}>{t.badges[outcome][verdict ?? 'none']}</span>{' '}
        {verdict === null
          ? t.noneBefore
          : t[outcome][verdict](
              formatShare(reached, journeys)!,
              formatShare(reachedBefore, journeysBefore)!,
              leavesOut,
            )}
      </p>
      {causes.length > 0 && (
        <ul className="causes">
          {causes.map(({ breakdown, key, name, role, points, fromRate, ...rates }) => (
            <li key={`${breakdown} ${key}`}>
              {role}{' '}
              {name === null ? (
                c.withoutPart(partWord(breakdown))
              ) : (
                <>
                  {c.the(partWord(breakdown))} <b>{name}</b>
                </>
              )}
              {t.rates({
                ...rates,
                reached: t.reached[outcome][breakdown === 'perk' ? 'perk' : 'own'],
                points: c.points(formatPoints(points)),
                isByShare: fromRate !== null && fromRate * points < 0,
              })}
            </li>
          ))}
        </ul>
      )}
      {split.length > 0 && (
        <details className="hint">
          <summary>{t.howPoints}</summary>
          <p>
            {t.points} {split.join(' ')}
          </p>
        </details>
      )}
    </div>
  );
}
