import { readWeightedList } from './weighted-list.js';

/** BCP 47, as far as content needs it: a primary subtag and any number of others. */
const TAG = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;
/** Longer ones are no languages of ours. */
const MAX_TAG_LENGTH = 35;

/** `FR-ca` as `fr-CA`; undefined for what is no language tag. */
export function canonicalLanguage(tag: string): string | undefined {
  if (tag.length > MAX_TAG_LENGTH || !TAG.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** `fr-ca`: `fr-ca`, `fr`. Takes and gives lower case. */
export function withParents(tag: string): string[] {
  const chain = [tag];
  for (let end = tag.lastIndexOf('-'); end > 0; end = tag.lastIndexOf('-', end - 1))
    chain.push(tag.slice(0, end));
  return chain;
}

/** The ranges of an Accept-Language header in lower case, the most wanted first; what is no language is left out. */
export const acceptedLanguages = (header: string): string[] =>
  readWeightedList(header).filter((tag) => tag === '*' || (tag.length <= MAX_TAG_LENGTH && TAG.test(tag)));

/** What a caller asked for: `lang` wins over the header. */
export interface LanguageWish {
  lang?: string;
  acceptLanguage?: string;
}

/**
 * The language of an answer, in canonical form: the first wanted one that exists, `fr-CA` falling back to `fr`
 * (RFC 4647 lookup), else the default. `available` answers the canonical form of a lower-case tag that exists.
 */
export function negotiateLanguage(
  { lang, acceptLanguage }: LanguageWish,
  available: (tag: string) => string | undefined,
  defaultLanguage: string,
): string {
  if (lang === undefined && !acceptLanguage) return defaultLanguage;
  const standard = defaultLanguage.toLowerCase();
  for (const wanted of lang !== undefined ? [lang] : acceptedLanguages(acceptLanguage!)) {
    if (wanted === '*') return defaultLanguage;
    const canonical = canonicalLanguage(wanted);
    for (const tag of canonical ? withParents(canonical.toLowerCase()) : []) {
      const found = available(tag);
      if (found !== undefined) return found;
      if (tag === standard) return defaultLanguage;
    }
  }
  return defaultLanguage;
}

/** Texts by lower-case language tag and field. */
export type Translations<Field extends string> = ReadonlyMap<string, Partial<Record<Field, string>>>;

/** Where a field's text is looked for, in this order, before the text that is no translation. */
export const fallbackChain = (language: string, defaultLanguage: string): string[] => [
  ...withParents(language.toLowerCase()),
  defaultLanguage.toLowerCase(),
];

/** Field by field: the first language of the chain that has the field, else `original`. */
export function localize<Field extends string>(
  field: Field,
  original: string,
  translations: Translations<Field>,
  chain: readonly string[],
): string {
  if (translations.size === 0) return original;
  for (const tag of chain) {
    const text = translations.get(tag)?.[field];
    if (text !== undefined) return text;
  }
  return original;
}
