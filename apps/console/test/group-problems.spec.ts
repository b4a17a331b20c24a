import { groupProblems, rowsText } from '../web/src/import/group-problems';

const noTitle = (id: string, row: number, file = 'perks.csv') => ({
  file,
  row,
  column: 'title',
  subject: `perk "${id}"`,
  message: `perk "${id}" has no title`,
});

describe('groupProblems', () => {
  it('groups problems that differ only in the resource', () => {
    const unknown = { file: 'perks.csv', row: 1, column: 'colour', message: 'unknown column "colour"' };
    expect(
      groupProblems([noTitle('one', 2), unknown, noTitle('two', 3), noTitle('three', 3, 'more.csv')]),
    ).toMatchObject([
      { message: 'perk "one" has no title', rows: [2, 3], count: 2 },
      { message: 'unknown column "colour"', rows: [1], count: 1 },
      { file: 'more.csv', rows: [3], count: 1 },
    ]);
  });

  it('counts problems without a row', () => {
    const problem = { file: 'perks.yaml', message: 'must be a list of maps' };
    expect(groupProblems([problem, problem])).toMatchObject([{ rows: [], count: 2 }]);
  });
});

describe('rowsText', () => {
  it('joins consecutive rows', () => {
    expect(rowsText([9, 2, 3, 4, 4])).toBe('2–4, 9');
    expect(rowsText([])).toBe('');
  });
});
