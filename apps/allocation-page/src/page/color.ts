/** WCAG relative luminance of `#rrggbb`. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** WCAG contrast ratio, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one) + 0.05, luminance(other) + 0.05];
  return Math.max(light, dark) / Math.min(light, dark);
}

/** As `--on-brand` in the stylesheet. */
const WHITE = '#ffffff';
const BLACK = '#14120f';

/**
 * Whether white or black text reads better on the colour. When an account's colour is saved, it is checked that one
 * of them reaches 4.5:1.
 */
export const takesWhiteText = (color: string): boolean => contrast(color, WHITE) >= contrast(color, BLACK);
