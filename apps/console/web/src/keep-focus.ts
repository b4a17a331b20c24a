/** Navigation state for URL changes within a screen, such as its tabs: the focus stays where it is. */
export const KEEP_FOCUS = { keepsFocus: true };

export const keepsFocus = (state: unknown) =>
  typeof state === 'object' && state !== null && 'keepsFocus' in state;
