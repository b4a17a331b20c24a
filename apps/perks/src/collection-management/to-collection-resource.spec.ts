import { ApiError } from '@perkway/domain';
import type { GroupDto } from './collection.dto.js';
import { toCollectionResource } from './to-collection-resource.js';

const group = (name: string, rank: number, fields: Partial<GroupDto> = {}): GroupDto => ({
  name,
  rank,
  perks: [],
  ...fields,
});
const resource = (...groups: GroupDto[]) => toCollectionResource('spring', { owner: 'acme', groups });
const problems = (...groups: GroupDto[]) => {
  try {
    resource(...groups);
    return [];
  } catch (error) {
    return (error as ApiError).fields;
  }
};
const UUID = '5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01';

describe('toCollectionResource', () => {
  it('sorts groups and perks by rank and keeps the given order of equal ranks', () => {
    const { groups } = resource(
      group('c', 2),
      group('a', 1, {
        perks: [
          { id: 'y', rank: 2 },
          { id: 'x', rank: 2 },
          { id: 'z', rank: -1 },
        ],
      }),
      group('b', 1),
    );
    expect(groups.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(groups[0]!.perks.map(({ id }) => id)).toEqual(['z', 'y', 'x']);
  });

  it('gives a group without an id the same UUID each time, wherever it is placed', () => {
    const [id] = resource(group('Travel', 1)).groups.map((each) => each.id);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    // Clients store these ids, so this value must never change.
    expect(id).toBe('5c266547-9461-5f30-92ae-22eb722ebb88');
    const moved = resource(group('Food', 1), group('Travel', 9, { id: null })).groups;
    expect(moved.find(({ name }) => name === 'Travel')!.id).toBe(id);
    const elsewhere = toCollectionResource('autumn', { owner: 'acme', groups: [group('Travel', 1)] });
    expect(elsewhere.groups[0]!.id).not.toBe(id);
  });

  it('distinguishes groups of the same name by their order', () => {
    const ids = resource(group('Travel', 2), group('Travel', 1)).groups.map((each) => each.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toBe(resource(group('Travel', 1)).groups[0]!.id);
  });

  it('keeps a given id in lower case, and drops empty translations', () => {
    const [only] = resource(
      group('Travel', 1, { id: UUID.toUpperCase(), translations: { FR: { name: 'Voyages' }, de: {} } }),
    ).groups;
    expect(only).toMatchObject({ id: UUID, translations: { fr: { name: 'Voyages' } } });
    expect(resource(group('Travel', 1, { translations: {} })).groups[0]).not.toHaveProperty('translations');
  });

  it('rejects duplicates and names their position in the body', () => {
    expect(problems(group('b', 2, { id: UUID }), group('a', 1, { id: UUID.toUpperCase() }))).toEqual([
      { field: 'groups.0.id', message: expect.any(String) },
    ]);
    const twice = [
      { id: 'x', rank: 1 },
      { id: 'y', rank: 2 },
      { id: 'x', rank: 3 },
    ];
    expect(
      problems(group('b', 2, { perks: twice }), group('a', 1, { perks: [{ id: 'x', rank: 1 }] })),
    ).toEqual([{ field: 'groups.0.perks.2.id', message: expect.stringContaining('x twice') }]);
  });

  it('rejects more perks than one view event can name', () => {
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `perk-${from + index}`, rank: index }));
    expect(
      problems(group('a', 1, { perks: many(0, 5_000) }), group('b', 2, { perks: many(0, 5_000) })),
    ).toEqual([]);
    expect(
      problems(group('a', 1, { perks: many(0, 5_000) }), group('b', 2, { perks: many(5_000, 1) })),
    ).toEqual([{ field: 'groups', message: expect.stringContaining('5000') }]);
  });
});
