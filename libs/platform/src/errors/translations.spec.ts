import { validateSync } from 'class-validator';
import { cleanTranslations, IsTranslations } from './translations.js';

class Texts {
  @IsTranslations({ name: 3 })
  translations: unknown;
}
const messages = (object: object) =>
  validateSync(object).flatMap(({ constraints }) => Object.values(constraints ?? {}));

describe('IsTranslations', () => {
  const problem = (translations: unknown) => messages(Object.assign(new Texts(), { translations }));

  it('accepts texts by language', () => {
    expect(problem({})).toEqual([]);
    expect(problem({ fr: { name: 'Un' }, 'de-AT': { name: '' }, it: {} })).toEqual([]);
  });

  it.each([
    [[], /must be an object/],
    ['fr', /must be an object/],
    [{ 'not a tag': {} }, /language tags/],
    [{ fr: 'text' }, /object under fr/],
    [{ fr: null }, /object under fr/],
    [{ fr: { name: 7 } }, /under fr\.name/],
    [{ fr: { name: 'long' } }, /at most 3/],
    [{ fr: { name: '\0' } }, /without NUL/],
    [{ fr: {}, FR: {} }, /fr twice/],
    [{ fr: {}, es: { name: 'a', other: 7 } }, /^translations\.es\.other is unknown$/],
    [
      Object.fromEntries(
        Array.from({ length: 101 }, (_, index) => [`a${index}`.replace(/\d/g, (d) => 'abcdefghij'[+d]!), {}]),
      ),
      /at most 100/,
    ],
  ])('rejects %j', (translations, message) => {
    expect(problem(translations)).toEqual([expect.stringMatching(message)]);
  });

  it('reduces translations to canonical tags and known fields', () => {
    const given = { 'FR-ca': { name: 'Un', other: 'x' }, de: {}, it: { other: 'y' } };
    expect(cleanTranslations(given as Record<string, { name?: string }>, ['name'])).toEqual({
      'fr-CA': { name: 'Un' },
    });
    expect(cleanTranslations(null, ['name'])).toEqual({});
  });
});
