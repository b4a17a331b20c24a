import { lastOf, readWeightedList } from '@perkway/domain';
import { LANGUAGES, type Language } from '../texts/index.js';

/** Maps `fr-CA` and `FR` to `fr`; undefined for a language that the page lacks. */
const supported = (tag: string): Language | undefined => {
  const primary = tag.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => language === primary);
};

export interface Choice {
  language: Language;
  /** The reader prefers languages, and the page has none of them. */
  isForeign: boolean;
}

/** Chooses the language of the page: `?lang=`, then `Accept-Language` by weight, then `fallback`. */
export function chooseLanguage(
  requested: unknown,
  acceptLanguage: string | undefined,
  fallback: Language,
): Choice {
  const last = lastOf(requested);
  const wanted = typeof last === 'string' ? supported(last) : undefined;
  if (wanted) return { language: wanted, isForeign: false };
  const tags = readWeightedList(acceptLanguage);
  for (const tag of tags) {
    const found = tag === '*' ? fallback : supported(tag);
    if (found) return { language: found, isForeign: false };
  }
  return { language: fallback, isForeign: tags.length > 0 };
}
