/** Problems that keep a catalogue from being applied, as sentences for the user. They never contain a key. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  /** @param problems all problems; the message is the first one */
  constructor(readonly problems: readonly [string, ...string[]]) {
    const more = problems.length - 1;
    super(`${problems[0]}${more > 0 ? ` (and ${more} more)` : ''}`);
  }
}
