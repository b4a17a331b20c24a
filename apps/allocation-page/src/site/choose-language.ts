import { lastOf, readWeightedList } from '@perkway/domain';
import { LANGUAGES, type Language } from '../texts/index.js';

/** `fr-CA` and `FR` are `fr`; undefined for a language the page does not speak. */
const supported = (tag: string): Language | undefined => {
  const primary = tag.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => language === primary);
};

export interface Choice {
  language: Language;
  /** The reader wants languages, and none of them is one of ours. */
  isForeign: boolean;
}

/** The language of the page: `?lang=` wins, then `Accept-Language` by its weights, then `fallback`. */
export function chooseLanguage(
  asked: unknown,
  acceptLanguage: string | undefined,
  fallback: Language,
): Choice {
  const last = lastOf(asked);
  const wanted = typeof last === 'string' ? supported(last) : undefined;
  if (wanted) return { language: wanted, isForeign: false };
  const tags = readWeightedList(acceptLanguage);
  for (const tag of tags) {
    const found = tag === '*' ? fallback : supported(tag);
    if (found) return { language: found, isForeign: false };
  }
  return { language: fallback, isForeign: tags.length > 0 };
}
