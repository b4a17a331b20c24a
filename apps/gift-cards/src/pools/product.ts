import {
  fallbackChain,
  localize,
  negotiateLanguage,
  type LanguageWish,
  type ProductView,
} from '@perkway/domain';
import { cleanTranslations } from '@perkway/platform';
import type { Product, PutProduct } from './product.dto.js';

/** The product as it is stored, whatever was left out. */
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
 * The product as a recipient sees it, in the language of the recipient, field by field.
 * @param isRevealed what helps to spend the card is for whoever has opened it
 */
export function showProduct(
  product: Product,
  wish: LanguageWish,
  defaultLanguage: string,
  isRevealed: boolean,
): { product: ProductView; language: string } {
  const tags = new Map(Object.keys(product.translations).map((tag) => [tag.toLowerCase(), tag]));
  const texts = new Map([...tags].map(([lower, tag]) => [lower, product.translations[tag]!]));
  const language = negotiateLanguage(wish, (tag) => tags.get(tag), defaultLanguage);
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
