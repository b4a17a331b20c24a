/** The parts of a code with hyphens are groups, unless they are longer than this. */
const LONGEST_PART = 12;

/**
 * Splits the code into groups, so that a line breaks only between two of them: after its hyphens or, without any, after
 * every four characters. Screen readers read each group by itself.
 */
export function groupsOf(code: string): string[] {
  const parts = code.match(/[^-]*-+|[^-]+/g) || [code];
  const groups: string[] = [];
  for (const part of parts) {
    const isGroup = parts.length > 1 && part.length <= LONGEST_PART;
    groups.push(...((!isGroup && part.match(/[^]{1,4}-*/g)) || [part]));
  }
  return groups;
}

/** Whether the code has no separators of its own, so that its groups need visible gaps. */
export const isSpaced = (code: string): boolean => /^[A-Za-z0-9]{7,}$/.test(code);

/** Returns the code as a person reads it, with the gaps. */
export const spaced = (code: string): string => (isSpaced(code) ? groupsOf(code).join(' ') : code);
