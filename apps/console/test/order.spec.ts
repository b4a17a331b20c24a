import { appended, byRank, moved, movePerk, ranked } from '../web/src/order';

const perks = (...ids: string[]) => ids.map((id, index) => ({ id, rank: 10 * (index + 1) }));
const group = (name: string, ...ids: string[]) => ({ name, rank: 1, perks: perks(...ids) });

describe('the order of a collection', () => {
  it('moves an item to a place', () => {
    expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
    expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
  });

  it('keeps different ranks, in the new order', () => {
    expect(ranked(moved(perks('a', 'b', 'c'), 2, 0))).toEqual(perks('c', 'a', 'b'));
  });

  it('numbers items whose ranks do not tell an order', () => {
    const same = [
      { id: 'a', rank: 0 },
      { id: 'b', rank: 0 },
    ];
    expect(ranked(same)).toEqual([
      { id: 'a', rank: 1 },
      { id: 'b', rank: 2 },
    ]);
  });

  it('sorts by rank and appends after the last rank', () => {
    expect(byRank(perks('a', 'b').toReversed())).toEqual(perks('a', 'b'));
    expect(appended(perks('a'), { id: 'b' })).toEqual([...perks('a'), { id: 'b', rank: 11 }]);
    expect(appended<{ id: string; rank: number }>([], { id: 'a' })).toEqual([{ id: 'a', rank: 1 }]);
  });

  it('moves a perk to another group, and keeps members that it does not know', () => {
    const groups = [group('one', 'a', 'b'), { ...group('two', 'c'), translations: { fr: { name: 'deux' } } }];
    const changed = movePerk(groups, [0, 0], [1, 0])!;
    expect(changed.map(({ perks: list }) => list.map(({ id }) => id))).toEqual([['b'], ['a', 'c']]);
    expect(changed[1]).toMatchObject({ translations: { fr: { name: 'deux' } } });
    expect(byRank(changed[1]!.perks)).toEqual(changed[1]!.perks);
  });

  it('does not put a perk into a group twice', () => {
    expect(movePerk([group('one', 'a'), group('two', 'a')], [0, 0], [1, 0])).toBeNull();
  });
});
