import { ApiError } from '@perkway/domain';
import fc from 'fast-check';
import { parseBody as parse, requestDigest, rewardLinkId } from './reward-link-request.js';

const POOL = '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10';
const KEY = '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a';

describe('the id of a reward link', () => {
  it('is a UUID derived from account and key, ignoring the case of the key', () => {
    const id = rewardLinkId('bank', KEY);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(rewardLinkId('bank', KEY.toUpperCase())).toBe(id);
    expect(rewardLinkId('Bank', KEY)).not.toBe(id);
    expect(rewardLinkId('bank', KEY.replace('3f', '4f'))).not.toBe(id);
  });
});

describe('the digest of a request', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, shuffled(member)]),
    );
  };

  it('ignores the order of members, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (body) => {
        expect(requestDigest(POOL, shuffled(body))).toBe(requestDigest(POOL, body));
      }),
    );
  });

  it('depends on the value, not on how it is written', () => {
    expect(requestDigest(POOL, JSON.parse('{"a":10.0,"b":1e1,"c":"\\u0041"}'))).toBe(
      requestDigest(POOL.toUpperCase(), JSON.parse('{ "b": 10, "c": "A", "a": 10 }')),
    );
  });

  it.each([
    ['another value', { denomination: 25 }, { denomination: 26 }],
    ['a different type', { denomination: 25 }, { denomination: '25' }],
    ['an additional member', { denomination: 25 }, { denomination: 25, note: 'x' }],
    ['null instead of a missing member', {}, { country: null }],
    ['a reference', {}, { reference: 'a' }],
    ['a campaign id sent as journey id', { campaign_id: 'a' }, { journey_id: 'a' }],
    ['swapped values', { a: '1', b: '2' }, { a: '2', b: '1' }],
    ['a different order in an array', { a: [1, 2] }, { a: [2, 1] }],
    ['a string that contains quotes', { a: '1","b":"2' }, { a: '1', b: '2' }],
  ])('differs for %s', (_, one, other) => {
    expect(requestDigest(POOL, one)).not.toBe(requestDigest(POOL, other));
  });

  it('treats null for a client-defined field as missing', () => {
    const nulls = { campaign_id: null, journey_id: null, reference: null };
    expect(requestDigest(POOL, { denomination: 25, ...nulls })).toBe(
      requestDigest(POOL, { denomination: 25 }),
    );
    expect(requestDigest(POOL, { a: nulls })).not.toBe(requestDigest(POOL, { a: {} }));
  });

  it('differs between pools', () => {
    expect(requestDigest(POOL, {})).not.toBe(requestDigest(POOL.replace('6', '7'), {}));
  });

  it('rejects a body that is nested too deeply', () => {
    const deep: unknown = JSON.parse('['.repeat(2_000) + ']'.repeat(2_000));
    expect(() => requestDigest(POOL, deep)).toThrow(ApiError);
  });
});

describe('parseBody', () => {
  const parseBody = (body: unknown) => parse(body, 366);
  const good = { denomination: 12.5, currency: 'EUR', expires_at: 1_900_000_000 };

  it('ignores unknown members', () => {
    expect(parseBody({ ...good, note: 'x' })).toEqual(good);
    expect(parseBody({ ...good, country: 'FR' })).toEqual({ ...good, country: 'FR' });
    const own = { campaign_id: 'c', journey_id: ' ', reference: '🌷'.repeat(255) };
    expect(parseBody({ ...good, ...own })).toEqual({ ...good, ...own });
    expect(parseBody({ ...good, campaign_id: null, journey_id: null, reference: null })).toEqual(good);
  });

  it.each([
    ['VALIDATION_FAILED', [undefined, null, 'x', 1, [], [good]]],
    [
      'DENOMINATION_INVALID',
      [undefined, null, '25', 0, -1, true, [25], Infinity, NaN].map((denomination) => ({
        ...good,
        denomination,
      })),
    ],
    [
      'CURRENCY_INVALID',
      [undefined, null, 'eur', 'EU', 'EURO', 'ABC', 978].map((currency) => ({ ...good, currency })),
    ],
    [
      'EXPIRING_DATE_INVALID',
      [undefined, null, '1900000000', 1.5, -1, 0, 1e11, 1e300, true].map((expires_at) => ({
        ...good,
        expires_at,
      })),
    ],
    ...(['campaign_id', 'journey_id', 'reference'] as const).map((name): [string, object[]] => [
      `${name.toUpperCase()}_INVALID`,
      ['', 7, {}, ['a'], 'x'.repeat(256), 'a\0', '\ud800'].map((value) => ({ ...good, [name]: value })),
    ]),
    ['COUNTRY_INVALID', [null, 'fr', 'FRA', 'UK', 1, ''].map((country) => ({ ...good, country }))],
  ])('rejects invalid values with %s', (code, bodies) => {
    for (const body of bodies) expect(parseBody(body)).toMatchObject({ code });
  });

  it('rejects more decimals than the currency has', () => {
    for (const [denomination, currency] of [
      [12.505, 'EUR'],
      [0.5, 'JPY'],
    ])
      expect(parseBody({ ...good, denomination, currency, expires_at: 0 })).toMatchObject({
        code: 'DENOMINATION_INVALID',
        detail: `denomination has more decimals than ${currency}`,
      });
    expect(parseBody({ ...good, denomination: 0.125, currency: 'KWD' })).toMatchObject({
      denomination: 0.125,
    });
  });

  it('names the unit and the maximum of expires_at, and recognizes milliseconds', () => {
    const detail = 'expires_at must be a whole number of Unix seconds, in the future and within 366 days';
    for (const expires_at of [undefined, '2027-01-01T00:00:00Z', 1.5])
      expect(parseBody({ ...good, expires_at })).toMatchObject({ detail });
    expect(parseBody({ ...good, expires_at: 1_900_000_000_000 })).toMatchObject({
      detail: `${detail}; this looks like milliseconds`,
    });
  });

  it('reports the first invalid field', () => {
    expect(parseBody({})).toMatchObject({ code: 'DENOMINATION_INVALID' });
    expect(parseBody({ denomination: 1, country: 1 })).toMatchObject({ code: 'CURRENCY_INVALID' });
    expect(parseBody({ ...good, expires_at: 0, country: 1 })).toMatchObject({
      code: 'EXPIRING_DATE_INVALID',
    });
  });
});
