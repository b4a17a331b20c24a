import { theirChanges, valueAt, withValue } from '../web/src/parts/merge-changes';

const BEFORE = { title: 'Old', media: { banner: 'b', logo: 'l' }, categories: [1, 2], note: 'Old' };

const changesOf = (mine: object, theirs: object) =>
  theirChanges(BEFORE, { ...BEFORE, ...mine }, { ...BEFORE, ...theirs }).map(
    ({ path, before, mine: own, theirs: other }) => [path.join('.'), before, own, other],
  );

it.each([
  ['changes of others', {}, { title: 'Theirs' }, [['title', 'Old', 'Old', 'Theirs']]],
  ['no own change', { title: 'Mine' }, {}, []],
  ['no change that both made', { title: 'Same' }, { title: 'Same' }, []],
  ['a field that both changed', { title: 'Mine' }, { title: 'Theirs' }, [['title', 'Old', 'Mine', 'Theirs']]],
  [
    'only the other changed field of one member',
    { media: { banner: 'mine', logo: 'l' } },
    { media: { banner: 'b', logo: 'theirs' } },
    [['media.logo', 'l', 'l', 'theirs']],
  ],
  [
    'a list as one value',
    { categories: [1] },
    { categories: [1, 2, 3] },
    [['categories', [1, 2], [1], [1, 2, 3]]],
  ],
  ['a field that others emptied', {}, { note: undefined }, [['note', 'Old', 'Old', undefined]]],
  [
    'members of a record that both added',
    { texts: { title: 'Mine', note: 'Same' } },
    { texts: { title: 'Theirs', note: 'Same' } },
    [['texts.title', undefined, 'Mine', 'Theirs']],
  ],
])('finds %s', (_, mine, theirs, found) => {
  expect(changesOf(mine, theirs)).toEqual(found);
});

it('reads and replaces a member of a member', () => {
  const changed = withValue(BEFORE, ['media', 'logo'], 'new');
  expect(changed).toEqual({ ...BEFORE, media: { banner: 'b', logo: 'new' } });
  expect(valueAt(changed, ['media', 'logo'])).toBe('new');
  expect(withValue({}, ['de', 'title'], 'neu')).toEqual({ de: { title: 'neu' } });
});

it('leaves no name of a removed member', () => {
  const draft = { translations: { de: { title: 'Reisen' }, fr: { title: 'Voyages' } } };
  expect(withValue(draft, ['translations', 'de'], undefined)).toEqual({
    translations: { fr: { title: 'Voyages' } },
  });
  expect(Object.keys(withValue(draft, ['translations'], undefined) as object)).toEqual([]);
});
