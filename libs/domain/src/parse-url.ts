/**
 * Returns the URL, or undefined if the text is not an absolute URL. `URL.canParse` of Node 20 rejects hosts with letters
 * like ü once V8 has optimized the call.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
