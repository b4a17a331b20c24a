import type { ApiError } from '@perkway/domain';
import { filtersKey, NO_FILTERS, readFilters } from './perk-filters.js';

const fieldsOf = (query: Parameters<typeof readFilters>[0]) => {
  try {
    readFilters(query);
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED' });
    return (error as ApiError).fields.map(({ field }) => field);
  }
};

describe('readFilters', () => {
  it('reads every filter and ignores other parameters', () => {
    expect(readFilters({})).toEqual(NO_FILTERS);
    expect(readFilters({ lang: 'fr', unknown: 'x', 'location_city[]': 'Paris' })).toEqual(NO_FILTERS);
    expect(
      readFilters({
        categories: ['7', '2', '07'],
        location_country: 'FR',
        location_region: 'Île-de-France',
        location_city: 'PARIS',
        show_coupon_perks: 'TRUE',
      }),
    ).toEqual({
      categories: [2, 7],
      country: 'fr',
      region: 'île-de-france',
      city: 'paris',
      showCouponPerks: true,
    });
  });

  it('accepts a list with brackets after its name, as some clients write it', () => {
    expect(readFilters({ 'categories[]': '7' }).categories).toEqual([7]);
    expect(readFilters({ 'categories[]': ['7', '2'], categories: '3' }).categories).toEqual([2, 3, 7]);
    expect(fieldsOf({ 'categories[]': ['7', 'x'] })).toEqual(['categories']);
  });

  it('uses the last value of a repeated single-value parameter', () => {
    expect(readFilters({ location_country: ['FR', 'DE'], show_coupon_perks: ['true', '0'] })).toEqual({
      ...NO_FILTERS,
      country: 'de',
    });
  });

  it.each([
    '',
    ' ',
    '1,2',
    '1.5',
    '-1',
    '0',
    '+1',
    '1e3',
    '0x1',
    'one',
    '2147483648',
    '9'.repeat(10_240),
    '1\0',
    '١',
  ])('rejects %j as a category', (categories) => {
    expect(fieldsOf({ categories })).toEqual(['categories']);
    expect(fieldsOf({ categories: ['1', categories] })).toEqual(['categories']);
  });

  it.each(['', 'yes', '2', 'truee', ' true', '\0'])('rejects %j as a boolean', (show_coupon_perks) => {
    expect(fieldsOf({ show_coupon_perks })).toEqual(['show_coupon_perks']);
  });

  it.each(['', 'x'.repeat(101), 'x'.repeat(10_240), 'FR\0', '\ud800'])('rejects %j as a place', (place) => {
    expect(fieldsOf({ location_country: place })).toEqual(['location_country']);
    expect(fieldsOf({ location_region: place })).toEqual(['location_region']);
    expect(fieldsOf({ location_city: place })).toEqual(['location_city']);
  });

  it('names every invalid parameter', () => {
    expect(
      fieldsOf({ categories: 'x', location_city: '', show_coupon_perks: 'y', location_country: 'FR' }),
    ).toEqual(['categories', 'location_city', 'show_coupon_perks']);
  });

  it('gives equal filters the same key, however they are written', () => {
    const key = (query: Parameters<typeof readFilters>[0]) => filtersKey(readFilters(query));
    expect(key({ categories: ['2', '1', '2'], location_city: 'Zürich' })).toBe(
      key({ categories: ['1', '2'], location_city: 'ZU\u0308RICH', lang: 'de' }),
    );
    expect(key({ location_city: 'a' })).not.toBe(key({ location_region: 'a' }));
    expect(key({ location_country: 'a","b' })).not.toBe(key({ location_country: 'a', location_region: 'b' }));
  });
});
