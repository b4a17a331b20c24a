import {
  fallbackChain,
  localize,
  negotiateLanguage,
  type LanguagePreference,
  type ProductView,
} from '@perkway/domain';
import { cleanTranslations } from '@perkway/platform';
import type { Product, PutProduct } from './product.dto.js';

/** Returns the product as it is stored, with defaults for omitted fields. */
export const toProduct = (given: PutProduct): Product => ({
  name: given.name,
  instructions: given.instructions || null,
  redeem_url: given.redeem_url ?? null,
  terms_url: given.terms_url ?? null,
  logo: given.logo ?? null,
  color: given.color?.toLowerCase() ?? null,
  code_format: given.code_format ?? 'text',
  translations: cleanTranslations(given.translations, ['name', 'instructions']),
});

/**
 * Returns the product in the recipient's language, with a language fallback for each text.
 * @param isRevealed includes how to spend the card, which only a recipient who has revealed it sees
 */
export function showProduct(
  product: Product,
  preference: LanguagePreference,
  defaultLanguage: string,
  isRevealed: boolean,
): { product: ProductView; language: string } {
  const tags = new Map(Object.keys(product.translations).map((tag) => [tag.toLowerCase(), tag]));
  const texts = new Map([...tags].map(([lower, tag]) => [lower, product.translations[tag]!]));
  const language = negotiateLanguage(preference, (tag) => tags.get(tag), defaultLanguage);
  const chain = fallbackChain(language, defaultLanguage);
  const { logo, color, redeem_url, terms_url, code_format } = product;
  const text = (field: 'name' | 'instructions') => localize(field, product[field] ?? '', texts, chain);
  return {
    language,
    product: {
      name: text('name') || product.name,
      logo,
      color,
      ...(isRevealed && {
        instructions: text('instructions') || null,
        redeem_url,
        terms_url,
        code_format,
      }),
    },
  };
}
