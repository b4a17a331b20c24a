import { lastOf, type LanguagePreference } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

/** Returns the requested language: `lang` in the query wins over `Accept-Language`. */
export function languagePreferenceOf({ query, headers }: FastifyRequest): LanguagePreference {
  const lang: unknown = lastOf((query as { lang?: unknown }).lang);
  return {
    lang: typeof lang === 'string' ? lang : undefined,
    acceptLanguage: headers['accept-language'],
  };
}
