/** What stops a catalogue from being applied, in sentences for the person who started it. Never holds a key. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  /** @param problems all that was found; the message is the first of them */
  constructor(readonly problems: readonly [string, ...string[]]) {
    const more = problems.length - 1;
    super(`${problems[0]}${more > 0 ? ` (and ${more} more)` : ''}`);
  }
}
