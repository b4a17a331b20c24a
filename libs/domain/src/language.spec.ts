import {
  acceptedLanguages,
  canonicalLanguage,
  fallbackChain,
  localize,
  negotiateLanguage,
  type LanguagePreference,
} from './language.js';

describe('language tags', () => {
  it('are normalized', () => {
    expect(canonicalLanguage('FR-ca')).toBe('fr-CA');
    expect(canonicalLanguage('zh-hant-tw')).toBe('zh-Hant-TW');
    for (const tag of [
      '',
      'f',
      'fr_CA',
      'fr-',
      '-fr',
      'fr--CA',
      'fr CA',
      'fr\0',
      'x'.repeat(9),
      'fr-'.repeat(5_000),
    ])
      expect(canonicalLanguage(tag)).toBeUndefined();
  });

  it('in a header are sorted by quality, without invalid ones', () => {
    expect(acceptedLanguages('fr;q=0.5, DE, *;q=0.1, it;q=0, es;q=0.9')).toEqual(['de', 'es', 'fr', '*']);
    expect(acceptedLanguages('fr_CA, ;q=1, ,\u0000, de;q=nonsense')).toEqual(['de']);
    expect(acceptedLanguages('a'.repeat(10_000))).toEqual([]);
  });
});

describe('negotiateLanguage', () => {
  const existing = new Map([
    ['fr', 'fr'],
    ['de', 'de'],
    ['pt-br', 'pt-BR'],
  ]);
  const negotiate = (preference: LanguagePreference) =>
    negotiateLanguage(preference, (tag) => existing.get(tag), 'en');

  it.each<[LanguagePreference, string]>([
    [{}, 'en'],
    [{ acceptLanguage: '' }, 'en'],
    [{ acceptLanguage: 'fr' }, 'fr'],
    [{ acceptLanguage: 'FR-ca' }, 'fr'],
    [{ acceptLanguage: 'fr-CA-x-home' }, 'fr'],
    [{ acceptLanguage: 'it, de;q=0.5, fr;q=0.9' }, 'fr'],
    [{ acceptLanguage: 'en-GB, fr;q=0.9' }, 'en'],
    [{ acceptLanguage: 'it, *, fr;q=0.9' }, 'en'],
    [{ acceptLanguage: 'it, ja' }, 'en'],
    [{ acceptLanguage: 'pt' }, 'en'],
    [{ acceptLanguage: 'PT-br' }, 'pt-BR'],
    [{ lang: 'de', acceptLanguage: 'fr' }, 'de'],
    [{ lang: 'it', acceptLanguage: 'fr' }, 'en'],
    [{ lang: '', acceptLanguage: 'fr' }, 'en'],
    [{ lang: 'de-AT' }, 'de'],
    [{ lang: '\0' }, 'en'],
    [{ lang: 'fr-'.repeat(4_000) }, 'en'],
  ])('%j gives %s', (preference, expected) => {
    expect(negotiate(preference)).toBe(expected);
  });
});

describe('localize', () => {
  const translations = new Map<string, Partial<Record<'title' | 'details', string>>>([
    ['fr', { title: 'Bonjour', details: 'Détails' }],
    ['fr-ca', { title: 'Allô' }],
    ['de', { details: '' }],
  ]);
  const inLanguage = (field: 'title' | 'details', language: string) =>
    localize(field, 'original', translations, fallbackChain(language, 'en'));

  it('falls back field by field', () => {
    expect(inLanguage('title', 'fr-CA')).toBe('Allô');
    expect(inLanguage('details', 'fr-CA')).toBe('Détails');
    expect(inLanguage('title', 'de')).toBe('original');
    // An empty string is a translation, too.
    expect(inLanguage('details', 'de')).toBe('');
    expect(inLanguage('title', 'en')).toBe('original');
  });

  it('prefers a translation into the default language to the original', () => {
    const given = new Map([['en', { title: 'Hello' }]]);
    expect(localize('title', 'original', given, fallbackChain('fr', 'en'))).toBe('Hello');
  });
});
