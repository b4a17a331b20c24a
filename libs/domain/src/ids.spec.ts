import { characters, isApiKey, isCallerId, isStorableText, isUuid } from './ids.js';

describe('ids', () => {
  it.each(['a', 'A.b_c-9', 'x'.repeat(100)])('accepts the caller id %j', (id) =>
    expect(isCallerId(id)).toBe(true),
  );
  it.each(['', 'x'.repeat(101), 'a b', 'ä', 'a/b', 'a\n', 'a\0', 7, undefined, ['a']])(
    'rejects the caller id %j',
    (id) => expect(isCallerId(id)).toBe(false),
  );
  it('accepts any UUID in any case', () => {
    expect(isUuid('6F9619FF-8B86-D011-B42D-00CF4FC964FF')).toBe(true);
    expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true);
    expect(isUuid('6f9619ff8b86d011b42d00cf4fc964ff')).toBe(false);
    expect(isUuid('6f9619ff-8b86-d011-b42d-00cf4fc964ff ')).toBe(false);
  });
  it('accepts keys of 16 to 128 characters', () => {
    expect(isApiKey('a'.repeat(15))).toBe(false);
    expect(isApiKey('A_-'.repeat(6))).toBe(true);
    expect(isApiKey('a'.repeat(129))).toBe(false);
    expect(isApiKey('a'.repeat(16) + '\n')).toBe(false);
  });
  it('counts characters, not UTF-16 units', () => expect(characters('a🎁ü')).toBe(3));
  it('recognizes text that Postgres cannot store', () => {
    expect(isStorableText('grün 🎁')).toBe(true);
    expect(isStorableText('a\0')).toBe(false);
    expect(isStorableText('\udc00')).toBe(false);
  });
});
