/** For a change of address inside of a screen, such as of its tabs: whoever has the focus keeps it. */
export const KEEP_FOCUS = { keepsFocus: true };

export const keepsFocus = (state: unknown) =>
  typeof state === 'object' && state !== null && 'keepsFocus' in state;
