import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { canonicalLanguage, isRecord } from '@perkway/domain';
import { ValidateBy } from 'class-validator';
import { isText } from './is-text.js';

const MAX_TRANSLATIONS = 100;
const MAX_NAME_SHOWN = 100;

/**
 * Accepts `{"fr": {"name": "..."}}`: strings by language and field. `limits` names the fields and their maximum
 * length. Adds itself to the OpenAPI document.
 */
export const IsTranslations = (limits: Record<string, number>) => {
  /** Returns the part of the message that follows the member's name. */
  const problem = (value: unknown): string | undefined => {
    const wrong = wrongIn(value);
    return wrong && (wrong.startsWith('.') ? wrong : ` ${wrong}`);
  };
  const wrongIn = (value: unknown): string | undefined => {
    if (!isRecord(value)) return 'must be an object with language tags as names';
    const tags = Object.keys(value);
    if (tags.length > MAX_TRANSLATIONS) return `must have at most ${MAX_TRANSLATIONS} languages`;
    const seen = new Set<string>();
    for (const tag of tags) {
      const canonical = canonicalLanguage(tag);
      if (!canonical) return 'must have language tags such as fr or fr-CA as names';
      if (seen.has(canonical)) return `names ${canonical} twice`;
      seen.add(canonical);
      const texts = value[tag];
      if (!isRecord(texts)) return `must have an object under ${canonical}`;
      const unknown = Object.keys(texts).find((field) => !Object.hasOwn(limits, field));
      if (unknown !== undefined) return `.${tag}.${unknown.slice(0, MAX_NAME_SHOWN)} is unknown`;
      for (const [field, max] of Object.entries(limits))
        if (texts[field] !== undefined && !isText(texts[field], 0, max))
          return `must have under ${canonical}.${field} a string of at most ${max} characters without NUL`;
    }
    return undefined;
  };
  return applyDecorators(
    ApiTranslations(limits),
    ValidateBy({
      name: 'isTranslations',
      validator: {
        validate: (value) => problem(value) === undefined,
        defaultMessage: (given) => `$property${problem(given?.value)}`,
      },
    }),
  );
};

/** Documents translations as they are stored. */
export const ApiTranslations = (limits: Record<string, number>) =>
  ApiProperty({
    type: 'object',
    description: 'Texts by language tag',
    additionalProperties: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(limits).map(([field, maxLength]) => [field, { type: 'string', maxLength }]),
      ),
    },
  });

/** Returns the translations with canonical tags and existing fields only. Languages without a string are dropped. */
export function cleanTranslations<Field extends string>(
  given: Record<string, Partial<Record<Field, string>>> | null | undefined,
  fields: readonly Field[],
): Record<string, Partial<Record<Field, string>>> {
  const clean: Record<string, Partial<Record<Field, string>>> = {};
  for (const [tag, texts] of Object.entries(given ?? {})) {
    const known = fields.filter((field) => texts[field] !== undefined).map((field) => [field, texts[field]]);
    if (known.length > 0) clean[canonicalLanguage(tag)!] = Object.fromEntries(known);
  }
  return clean;
}
