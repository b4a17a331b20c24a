import { readWeightedList } from './weighted-list.js';

describe('readWeightedList', () => {
  it.each([
    ['gzip, br', ['gzip', 'br']],
    ['fr;q=0.5, DE, *;q=0.1, it;q=0, es;q=0.9', ['de', 'es', 'fr', '*']],
    ['fr; q=0.5 , de ;Q=0.6', ['de', 'fr']],
    ['fr;level=1;q=0.2, de;q=0.3', ['de', 'fr']],
    ['fr, de;q=5, es;q=0.000, it;q=1.000', ['fr', 'it']],
    ['de;q=nonsense, fr;q=0.9', ['de', 'fr']],
    [', ;q=1,,', []],
    [undefined, []],
  ])('reads %j as %j', (header, expected) => expect(readWeightedList(header)).toEqual(expected));

  it('reads a limited number of members', () => {
    expect(readWeightedList(Array.from({ length: 5_000 }, () => 'fr').join(',')).length).toBeLessThan(50);
  });
});
