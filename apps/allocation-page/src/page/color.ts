// Imported by its path, because other modules of the library do not run in the oldest browsers that the page supports.
import { BLACK_TEXT, contrast, WHITE_TEXT } from '@perkway/domain/contrast';

/**
 * Returns whether white text has at least the contrast of black text on this color. An account's color is checked when
 * it is saved: one of the two reaches 4.5:1.
 */
export const takesWhiteText = (color: string): boolean =>
  contrast(color, WHITE_TEXT) >= contrast(color, BLACK_TEXT);
