/** The fields that decide which entries form a run. */
interface Entry {
  at: string;
  actor: string;
  person: string | null;
  status: number | null;
}

/** Fewer entries than this stay single. */
const RUN = 3;

/** Entries that follow each other, of the same action by the same author for the same account in the same minute. */
export interface Run<T> {
  /** What all of them did, such as `Created perk`; null for a single entry. */
  title: string | null;
  entries: T[];
}

/**
 * Returns the title of a run: action and kind, or the whole sentence if it says more than these and the object.
 * @param template such as `Created perk $1`
 */
export const actionOf = (template: string, sentence: string): string =>
  /^\w+ \w+ \$1$/.test(template) ? template.slice(0, -' $1'.length) : sentence;

/**
 * Groups entries, newest first, into runs.
 *
 * @param titleOf returns undefined for entries that stay single
 * @param accountOf returns the account that an entry is about
 */
export function runsOf<T extends Entry>(
  entries: T[],
  titleOf: (entry: T) => string | undefined,
  accountOf: (entry: T) => string | undefined,
): Run<T>[] {
  const keyOf = (entry: T) => {
    const title = titleOf(entry);
    const { at, actor, person, status } = entry;
    const isDone = status === null ? null : status < 400;
    return title && JSON.stringify([title, at.slice(0, 16), accountOf(entry), person ?? actor, isDone]);
  };
  const runs: { key: string | undefined; entries: T[] }[] = [];
  for (const entry of entries) {
    const key = keyOf(entry);
    const last = runs.at(-1);
    if (last && key !== undefined && last.key === key) last.entries.push(entry);
    else runs.push({ key, entries: [entry] });
  }
  return runs.flatMap(({ entries: run }): Run<T>[] =>
    run.length >= RUN
      ? [{ title: titleOf(run[0]!)!, entries: run }]
      : run.map((entry) => ({ title: null, entries: [entry] })),
  );
}
