import { differences } from './differences.js';

describe('differences', () => {
  it.each<[string, object, object]>([
    ['missing and empty members', { coupon: null, is_coupon_perk: false, metadata: '' }, {}],
    ['the order of categories', { categories: [1, 2] }, { categories: [2, 1] }],
    [
      'the order of groups and of their perks, and ids that the host derived',
      {
        groups: [
          { id: 'a', rank: 1, name: 'A', perks: [] },
          { id: 'b', rank: 2, name: 'B', perks: [] },
        ],
      },
      {
        groups: [
          { rank: 2, name: 'B' },
          { rank: 1, name: 'A' },
        ],
      },
    ],
    [
      'the case of origins',
      { allowed_origins: ['https://a.example'] },
      { allowed_origins: ['https://A.example'] },
    ],
    ['members that the host sets', { id: 'x', created_at: 'x', updated_at: 'x' }, {}],
    ['the default barcode', { product: { code_format: 'text' } }, { product: {} }],
  ])('ignore %s', (_, stored, wanted) => {
    expect(differences(stored, wanted)).toEqual([]);
  });

  it('name each changed member by its path', () => {
    expect(
      differences(
        { title: 'Old', categories: [1], translations: { it: { title: 'Vecchio' } }, is_coupon_perk: true },
        { title: 'New', categories: [2, 1], locations: [{ country: 'FR' }], is_coupon_perk: false },
      ),
    ).toEqual([
      { at: 'title', before: 'Old', after: 'New' },
      { at: 'categories', before: [1], after: [2, 1] },
      { at: 'translations.it.title', before: 'Vecchio', after: undefined },
      { at: 'is_coupon_perk', before: true, after: false },
      { at: 'locations.0.country', before: undefined, after: 'FR' },
    ]);
  });

  it('show every member of a new resource', () => {
    expect(differences(undefined, { name: 'A', partner: { id: 'x' } })).toEqual([
      { at: 'name', before: undefined, after: 'A' },
      { at: 'partner.id', before: undefined, after: 'x' },
    ]);
  });
});
