import { mergeChanges } from '../web/src/parts/merge-changes';

const BEFORE = { title: 'Old', media: { banner: 'b', logo: 'l' }, categories: [1, 2], note: 'Old' };

it.each([
  ['the other version without own changes', {}, { title: 'Theirs' }, { title: 'Theirs' }],
  ['own changes without others', { title: 'Mine' }, {}, { title: 'Mine' }],
  ['changes of different fields', { title: 'Mine' }, { note: 'Theirs' }, { title: 'Mine', note: 'Theirs' }],
  ['the own value if both changed it', { title: 'Mine' }, { title: 'Theirs' }, { title: 'Mine' }],
  [
    'changes of different fields of one member',
    { media: { banner: 'mine', logo: 'l' } },
    { media: { banner: 'b', logo: 'theirs' } },
    { media: { banner: 'mine', logo: 'theirs' } },
  ],
  ['the own list', { categories: [1] }, { categories: [1, 2, 3] }, { categories: [1] }],
  [
    'a field that was emptied',
    { note: undefined },
    { title: 'Theirs' },
    { title: 'Theirs', note: undefined },
  ],
])('keeps %s', (_, mine, theirs, merged) => {
  expect(mergeChanges(BEFORE, { ...BEFORE, ...mine }, { ...BEFORE, ...theirs })).toEqual({
    ...BEFORE,
    ...merged,
  });
});
