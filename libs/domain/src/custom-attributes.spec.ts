import fc from 'fast-check';
import {
  appendAttributes,
  isTrackingDisabled,
  mergeAttributes,
  readCustomAttributes,
  readJourneyId,
} from './custom-attributes.js';

const parse = (query: string): Record<string, string | string[]> => {
  const found: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    const before = found[name];
    found[name] = before === undefined ? value : [before, value].flat();
  }
  return found;
};

describe('readCustomAttributes', () => {
  it('strips the prefix of cmeta names and keeps utm names apart from them', () => {
    const read = readCustomAttributes(
      parse('cmeta_user-id=7&utm_source=mail&cmeta_utm_source=x&journeyId=j'),
    );
    expect(read.utm).toEqual({ utm_source: 'mail' });
    expect({ ...read.cmeta }).toEqual({ 'user-id': '7', utm_source: 'x' });
  });

  it.each(['cmeta_', 'cmeta_a.b', 'cmeta_é', 'CMETA_a', 'cmeta_a b', 'utm_other', 'utm_'])(
    'drops the name %j',
    (name) => {
      expect(readCustomAttributes({ [name]: 'x' })).toEqual({ utm: {}, cmeta: {} });
    },
  );

  it('keeps a value of 254 characters and drops one of 255, counted in code points', () => {
    const read = readCustomAttributes({
      cmeta_short: 'a'.repeat(254),
      cmeta_long: 'a'.repeat(255),
      cmeta_emoji: '🎁'.repeat(254),
      cmeta_emojis: '🎁'.repeat(255),
      utm_term: 'ü'.repeat(255),
    });
    expect(Object.keys(read.cmeta)).toEqual(['short', 'emoji']);
    expect(read.utm).toEqual({});
  });

  it.each(['a\0b', '\ud800'])('drops %j, which cannot be stored', (value) => {
    expect(readCustomAttributes({ cmeta_a: value }).cmeta).toEqual({});
  });

  it('uses the last value of a repeated name, even if that value is dropped', () => {
    expect({ ...readCustomAttributes(parse('cmeta_a=1&cmeta_a=2')).cmeta }).toEqual({ a: '2' });
    expect({ ...readCustomAttributes({ cmeta_a: ['1', 'x'.repeat(255)] }).cmeta }).toEqual({});
  });

  it('treats __proto__ and constructor as names like any other', () => {
    const read = readCustomAttributes(parse('cmeta___proto__=p&cmeta_constructor=c'));
    expect(Object.entries(read.cmeta)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
    expect(({} as { p?: string }).p).toBeUndefined();
  });

  it('reads back what appendAttributes wrote', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
    const value = fc
      .string({ unit: 'grapheme', maxLength: 60 })
      .filter((text) => !text.includes('\0') && text.isWellFormed());
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), value, (pairs, source) => {
        const attributes = {
          utm: { utm_source: source },
          cmeta: Object.create(null) as Record<string, string>,
        };
        for (const [key, text] of pairs) attributes.cmeta[key] = text;
        const params = new URLSearchParams();
        appendAttributes(params, attributes);
        const read = readCustomAttributes(parse(params.toString()));
        expect(read.utm).toEqual(attributes.utm);
        expect(Object.entries(read.cmeta)).toEqual(Object.entries(attributes.cmeta));
      }),
    );
  });
});

describe('mergeAttributes', () => {
  it('prefers own attributes of the same name', () => {
    const merged = mergeAttributes(
      readCustomAttributes({ cmeta_a: '1', cmeta_b: '1', utm_source: 'x' }),
      readCustomAttributes({ cmeta_b: '2', utm_source: 'y', utm_term: 't' }),
    );
    expect({ ...merged.cmeta }).toEqual({ a: '1', b: '2' });
    expect(merged.utm).toEqual({ utm_source: 'y', utm_term: 't' });
  });
});

describe('isTrackingDisabled', () => {
  it.each(['true', '1', ['false', 'true']])('is true for %j', (value) =>
    expect(isTrackingDisabled(value)).toBe(true),
  );
  it.each([undefined, '', 'TRUE', 'yes', '0', 'false', ['1', 'false']])('is false for %j', (value) =>
    expect(isTrackingDisabled(value)).toBe(false),
  );
});

describe('readJourneyId', () => {
  it('accepts up to 255 characters', () => {
    expect(readJourneyId('🎁'.repeat(255))).toBe('🎁'.repeat(255));
    expect(readJourneyId('a'.repeat(256))).toBeUndefined();
  });
  it.each([undefined, '', 'a\0', 7])('treats %j as omitted', (value) =>
    expect(readJourneyId(value)).toBeUndefined(),
  );
});
