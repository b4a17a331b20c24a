import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { isRecord, redirectTarget } from '@perkway/domain';
import { isText } from '@perkway/platform';
import { buildMessage, ValidateBy } from 'class-validator';
import { canonicalLanguage } from './language.js';

const MAX_URL_LENGTH = 2_048;
const MAX_TRANSLATIONS = 100;

const isWebUrl = (value: unknown): value is string =>
  // Parsers drop white space and control characters silently; a browser and we must mean the same address.
  isText(value, 1, MAX_URL_LENGTH) && !/[\s\p{Cc}]/u.test(value) && redirectTarget(value) !== undefined;

/** Absolute http(s), no user or password in it: what a customer may be sent to. Documents itself. */
export const IsWebUrl = () =>
  applyDecorators(
    ApiProperty({ type: String, maxLength: MAX_URL_LENGTH }),
    ValidateBy({
      name: 'isWebUrl',
      validator: {
        validate: isWebUrl,
        defaultMessage: buildMessage(
          () =>
            `$property must be an absolute http(s) URL without user or password, of at most ${MAX_URL_LENGTH} characters`,
        ),
      },
    }),
  );

/**
 * `{"fr": {"name": "..."}}`: texts by language and field. `limits` names the fields and their longest text. Documents
 * itself.
 */
export const IsTranslations = (limits: Record<string, number>) => {
  const problem = (value: unknown): string | undefined => {
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
      for (const [field, max] of Object.entries(limits))
        if (texts[field] !== undefined && !isText(texts[field], 0, max))
          return `must have under ${canonical}.${field} a text of at most ${max} characters without NUL`;
    }
    return undefined;
  };
  return applyDecorators(
    ApiTranslations(limits),
    ValidateBy({
      name: 'isTranslations',
      validator: {
        validate: (value) => problem(value) === undefined,
        defaultMessage: (given) => `$property ${problem(given?.value)}`,
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

/** The translations with canonical tags and only the fields that exist; languages without any text are dropped. */
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
