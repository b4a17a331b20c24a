// By a path of its own: the rest of the lib is not for browsers as old as those of the page.
import { BLACK_TEXT, contrast, WHITE_TEXT } from '@perkway/domain/contrast';

/**
 * Whether white or black text reads better on the colour. When an account's colour is saved, it is checked that one
 * of them reaches 4.5:1.
 */
export const takesWhiteText = (color: string): boolean =>
  contrast(color, WHITE_TEXT) >= contrast(color, BLACK_TEXT);
