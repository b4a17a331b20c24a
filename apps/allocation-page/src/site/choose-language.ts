import { lastOf, readWeightedList } from '@perkway/domain';
import { LANGUAGES, type Language } from '../texts/index.js';

/** `fr-CA` and `FR` are `fr`; undefined for a language the page does not speak. */
const supported = (tag: string): Language | undefined => {
  const primary = tag.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => language === primary);
};

/** The language of the page: `?lang=` wins, then `Accept-Language` by its weights, then `fallback`. */
export function chooseLanguage(
  asked: unknown,
  acceptLanguage: string | undefined,
  fallback: Language,
): Language {
  const last = lastOf(asked);
  const wanted = typeof last === 'string' ? supported(last) : undefined;
  if (wanted) return wanted;
  for (const tag of readWeightedList(acceptLanguage)) {
    const found = tag === '*' ? fallback : supported(tag);
    if (found) return found;
  }
  return fallback;
}
