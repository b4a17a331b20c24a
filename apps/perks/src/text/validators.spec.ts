import { validateSync } from 'class-validator';
import { cleanTranslations, IsTranslations, IsWebUrl } from './validators.js';

class Urls {
  @IsWebUrl()
  url: unknown;
}
class Texts {
  @IsTranslations({ name: 3 })
  translations: unknown;
}
const messages = (object: object) =>
  validateSync(object).flatMap(({ constraints }) => Object.values(constraints ?? {}));

describe('IsWebUrl', () => {
  const isValid = (url: unknown) => messages(Object.assign(new Urls(), { url })).length === 0;

  it.each([
    'https://shop.example',
    'http://shop.example:8080/a?b=c&d=%20#e',
    'HTTPS://Shop.example/ü?q=ü',
    'https://[::1]/',
  ])('takes %s', (url) => expect(isValid(url)).toBe(true));

  it.each([
    'shop.example',
    '/offer',
    '//shop.example',
    'ftp://shop.example',
    'javascript:alert(1)',
    'https://',
    'https://user@shop.example',
    'https://user:secret@shop.example',
    'https://shop.example/\n',
    ' https://shop.example',
    'https://shop.example/a b',
    'https://shop.example/\0',
    `https://shop.example/${'a'.repeat(2_048)}`,
    7,
    null,
    ['https://shop.example'],
  ])('refuses %j', (url) => expect(isValid(url)).toBe(false));
});

describe('IsTranslations', () => {
  const problem = (translations: unknown) => messages(Object.assign(new Texts(), { translations }));

  it('takes texts by language', () => {
    expect(problem({})).toEqual([]);
    expect(problem({ fr: { name: 'Un' }, 'de-AT': { name: '' }, it: {}, es: { other: 7 } })).toEqual([]);
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
    [
      Object.fromEntries(
        Array.from({ length: 101 }, (_, index) => [`a${index}`.replace(/\d/g, (d) => 'abcdefghij'[+d]!), {}]),
      ),
      /at most 100/,
    ],
  ])('refuses %j', (translations, message) => {
    expect(problem(translations)).toEqual([expect.stringMatching(message)]);
  });

  it('are cleaned to canonical tags and known fields', () => {
    const given = { 'FR-ca': { name: 'Un', other: 'x' }, de: {}, it: { other: 'y' } };
    expect(cleanTranslations(given as Record<string, { name?: string }>, ['name'])).toEqual({
      'fr-CA': { name: 'Un' },
    });
    expect(cleanTranslations(null, ['name'])).toEqual({});
  });
});
