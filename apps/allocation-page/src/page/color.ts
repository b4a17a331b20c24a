/** WCAG relative luminance of `#rrggbb`. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** True if white text reads better on the colour than black text; the better of both is always at least 4.5:1. */
export const takesWhiteText = (color: string): boolean => {
  const light = luminance(color);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05;
};
