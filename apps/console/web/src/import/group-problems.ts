import type { Problem } from '@perkway/catalogue';

/** Problems of one cause in a file. `rows` has their rows in order. */
export interface ProblemGroup extends Problem {
  rows: number[];
  count: number;
}

/** Groups problems that differ only in the resource. A group has the message of its first problem. */
export function groupProblems(problems: Problem[]): ProblemGroup[] {
  const groups = new Map<string, ProblemGroup>();
  for (const problem of problems) {
    const { file, row, column, message, subject = '' } = problem;
    const key = JSON.stringify([file, column, message.replace(subject, '')]);
    const group = groups.get(key) ?? { ...problem, rows: [], count: 0 };
    groups.set(key, group);
    group.count += 1;
    if (row !== undefined) group.rows.push(row);
  }
  return [...groups.values()];
}

/** Writes rows as a person does: `2–4, 9`. */
export const rowsText = (rows: number[]): string =>
  [...new Set(rows)]
    .sort((one, other) => one - other)
    .reduce<[first: number, last: number][]>((ranges, row) => {
      const latest = ranges.at(-1);
      if (latest?.[1] === row - 1) latest[1] = row;
      else ranges.push([row, row]);
      return ranges;
    }, [])
    .map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
    .join(', ');
