import { readWeightedList } from './weighted-list.js';

/** The subset of BCP 47 that content needs: a primary subtag and any number of others. */
const TAG = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;
/** Longer tags are rejected. */
const MAX_TAG_LENGTH = 35;

/** Normalizes `FR-ca` to `fr-CA`; returns undefined for an invalid tag. */
export function canonicalLanguage(tag: string): string | undefined {
  if (tag.length > MAX_TAG_LENGTH || !TAG.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** Returns a tag and its parents: for `fr-ca`, `fr-ca` and `fr`. Input and output are in lower case. */
export function withParents(tag: string): string[] {
  const chain = [tag];
  for (let end = tag.lastIndexOf('-'); end > 0; end = tag.lastIndexOf('-', end - 1))
    chain.push(tag.slice(0, end));
  return chain;
}

/** Returns the ranges of an Accept-Language header in lower case, the most preferred first, without invalid ones. */
export const acceptedLanguages = (header: string): string[] =>
  readWeightedList(header).filter((tag) => tag === '*' || (tag.length <= MAX_TAG_LENGTH && TAG.test(tag)));

/** The languages a caller asked for: `lang` wins over the header. */
export interface LanguagePreference {
  lang?: string;
  acceptLanguage?: string;
}

/**
 * Returns the language of a response in canonical form: the first preferred one that exists, where `fr-CA` falls back
 * to `fr` (RFC 4647 lookup), otherwise the default. `available` returns the canonical form of a lower-case tag if that
 * language exists.
 */
export function negotiateLanguage(
  { lang, acceptLanguage }: LanguagePreference,
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

/** Returns the languages in which a field's text is looked up, in order, before the original text. */
export const fallbackChain = (language: string, defaultLanguage: string): string[] => [
  ...withParents(language.toLowerCase()),
  defaultLanguage.toLowerCase(),
];

/** Returns the field in the first language of the chain that has it, otherwise `original`. */
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
