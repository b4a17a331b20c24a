import { LANGUAGES, TEXTS } from './index.js';

/** Returns every text of a language by its path. */
const flatten = (value: object, parent = ''): [string, string][] =>
  Object.entries(value).flatMap(([name, text]: [string, unknown]) =>
    typeof text === 'string'
      ? [[`${parent}${name}`, text] as [string, string]]
      : flatten(text as object, `${parent}${name}.`),
  );
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

describe.each(LANGUAGES)('texts in %s', (language) => {
  const texts = flatten(TEXTS[language]);

  it('are complete, with the same placeholders as in English', () => {
    const english = flatten(TEXTS.en);
    expect(texts.map(([path]) => path)).toEqual(english.map(([path]) => path));
    for (const [index, [path, text]] of texts.entries()) {
      expect([path, text.trim() === text && text !== '']).toEqual([path, true]);
      expect([path, placeholders(text)]).toEqual([path, placeholders(english[index]![1])]);
    }
  });

  it('keep French punctuation on the line of its word', () => {
    for (const [path, text] of texts) expect([path, / [:;?!]/.test(text)]).toEqual([path, false]);
  });

  it('give each copy button a text of its own', () => {
    const { code, pin } = TEXTS[language].revealed.secrets;
    expect(code.copy).not.toBe(pin.copy);
  });
});
