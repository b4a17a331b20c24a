const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** First characters that make a spreadsheet evaluate a cell, full-width forms included. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** Returns one field of RFC 4180. A string that a spreadsheet would evaluate gets a leading apostrophe. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const given =
    typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
  const text = FORMULA.test(given) && !NUMBER.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
