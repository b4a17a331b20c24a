import { lastOf, type LanguageWish } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

/** The language that the reader wants: `lang` in the query wins over `Accept-Language`. */
export function languageWishOf({ query, headers }: FastifyRequest): LanguageWish {
  const lang: unknown = lastOf((query as { lang?: unknown }).lang);
  return {
    lang: typeof lang === 'string' ? lang : undefined,
    acceptLanguage: headers['accept-language'],
  };
}
