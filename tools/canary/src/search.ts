/** A text that may only be in places with a right to it. */
export interface Canary {
  /** Such as "API key" or "card code". */
  kind: string;
  text: string;
}

/** A text that a run left behind. */
export interface Found {
  /** Such as "log of perks" or "gift_cards.reward_links". */
  place: string;
  text: string;
}

/** A place that may hold one kind of canary. */
export interface Right {
  kind: string;
  place: RegExp;
  because: string;
}

const ENCODINGS: [name: string, encode: (text: string) => string][] = [
  ['as it is', (text) => text],
  ['in JSON', (text) => JSON.stringify(text).slice(1, -1)],
  ['in a URL', encodeURIComponent],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['in HTML', (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')],
];

/**
 * Returns how a text looks inside base64 at each byte offset, without the characters at its ends, which depend on their
 * neighbors.
 */
const inBase64 = (text: string, encoding: 'base64' | 'base64url'): string[] =>
  [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
      .toString(encoding)
      .replace(/=+$/, '');
    return encoded.slice(before === 0 ? 0 : before + 1, -2);
  });

/** Returns every encoding of a canary, in lower case. */
export function formsOf({ text }: Canary): Map<string, string> {
  const forms = new Map<string, string>();
  const add = (form: string, name: string) => {
    const folded = form.toLowerCase();
    if (!forms.has(folded)) forms.set(folded, name);
  };
  for (const [name, encode] of ENCODINGS) add(encode(text), name);
  for (const encoding of ['base64', 'base64url'] as const)
    for (const form of inBase64(text, encoding)) add(form, `in ${encoding}`);
  return forms;
}

/** Returns each finding once, as `kind in place, form`, without repeating the canary. */
export function search(
  found: readonly Found[],
  canaries: readonly Canary[],
  rights: readonly Right[],
): string[] {
  const forms = canaries.map((canary) => ({ ...canary, forms: formsOf(canary) }));
  const leaks = new Set<string>();
  for (const { place, text } of found) {
    const folded = text.toLowerCase();
    for (const { kind, forms: each } of forms) {
      if (rights.some((right) => right.kind === kind && right.place.test(place))) continue;
      for (const [form, name] of each) if (folded.includes(form)) leaks.add(`${kind} in ${place}, ${name}`);
    }
  }
  return [...leaks].sort();
}
