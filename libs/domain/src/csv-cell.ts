const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** First characters that make a spreadsheet evaluate a cell, full-width forms included. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** Returns the text, with a leading apostrophe if a spreadsheet would evaluate it. */
export const withoutFormula = (text: string): string =>
  FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;

/** Returns one field of RFC 4180. */
export const csvField = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Returns one field of RFC 4180. A string that a spreadsheet would evaluate gets a leading apostrophe. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
  return csvField(withoutFormula(text));
}
