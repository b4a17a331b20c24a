/** Position in nested lists: `[2]` is the third group, `[2, 0]` its first perk. */
export type Place = readonly number[];

export const moved = <T>(list: readonly T[], from: number, to: number): T[] =>
  list.toSpliced(from, 1).toSpliced(to, 0, list[from]!);

interface Ranked {
  rank: number;
}
/** Sorts by rank, as customers see it. */
export const byRank = <T extends Ranked>(list: readonly T[]): T[] =>
  list.toSorted((one, other) => one.rank - other.rank);

/** Assigns ranks in the order of the list: the existing ranks if they all differ, or else 1, 2, 3 and so on. */
export function ranked<T extends Ranked>(list: readonly T[]): T[] {
  const ranks = list.map(({ rank }) => rank).toSorted((one, other) => one - other);
  const areDifferent = new Set(ranks).size === ranks.length;
  return list.map((item, index) => ({ ...item, rank: areDifferent ? ranks[index]! : index + 1 }));
}

const nextRank = (list: readonly Ranked[]): number => Math.max(0, ...list.map(({ rank }) => rank)) + 1;
/** Adds an item after the last one. */
export const appended = <T extends Ranked>(list: readonly T[], item: Omit<T, 'rank'>): T[] => [
  ...list,
  { ...item, rank: nextRank(list) } as T,
];

interface RankedPerk extends Ranked {
  id: string;
}
interface RankedGroup extends Ranked {
  perks: readonly RankedPerk[];
}

/** Moves a perk within its group or to another one. Returns null if that group has the perk already. */
export function movePerk<G extends RankedGroup>(groups: readonly G[], from: Place, to: Place): G[] | null {
  const [fromGroup, fromIndex] = from as [number, number];
  const [toGroup, toIndex] = to as [number, number];
  const perk = groups[fromGroup]!.perks[fromIndex]!;
  const withPerks = (group: G, perks: RankedPerk[]): G => ({ ...group, perks });
  if (fromGroup === toGroup)
    return groups.with(
      fromGroup,
      withPerks(groups[fromGroup]!, ranked(moved(groups[fromGroup]!.perks, fromIndex, toIndex))),
    );
  const target = groups[toGroup]!;
  if (target.perks.some(({ id }) => id === perk.id)) return null;
  const joined = appended(target.perks, perk);
  return groups
    .with(fromGroup, withPerks(groups[fromGroup]!, groups[fromGroup]!.perks.toSpliced(fromIndex, 1)))
    .with(toGroup, withPerks(target, ranked(moved(joined, joined.length - 1, toIndex))));
}
