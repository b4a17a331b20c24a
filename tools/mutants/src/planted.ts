import type { Fault } from './faults.js';

/** Returns the text with the fault in it. @throws Error unless the search text occurs exactly once */
export function planted(text: string, { file, search, replacement }: Fault): string {
  const [before, after, ...more] = text.split(search);
  if (after === undefined) throw new Error(`${file} does not contain: ${search}`);
  if (more.length > 0) throw new Error(`${file} contains more than once: ${search}`);
  return before + replacement + after;
}
