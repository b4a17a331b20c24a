/** The two text colors of buttons on the Allocation Page, `--on-brand` in its stylesheet. */
export const WHITE_TEXT = '#ffffff';
export const BLACK_TEXT = '#14120f';

/** Returns the WCAG relative luminance of a color `#rrggbb`. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Returns the WCAG contrast ratio of two colors `#rrggbb`, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one) + 0.05, luminance(other) + 0.05];
  return Math.max(light, dark) / Math.min(light, dark);
}
