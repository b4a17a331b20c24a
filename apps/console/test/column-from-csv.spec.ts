import { columnFromCsv } from '../web/src/import/column-from-csv';

describe('columnFromCsv', () => {
  it('reads the column with the header, however it is capitalized', () => {
    expect(columnFromCsv('id,Code\n1,A\n2,B\n', 'code')).toEqual(['A', 'B']);
    expect(columnFromCsv('Code\nA\n', 'code')).toEqual(['A']);
  });

  it('takes every line of a file of one column without the header', () => {
    expect(columnFromCsv('A\nB\n', 'code')).toEqual(['A', 'B']);
    expect(columnFromCsv('p-1\np-2\n', 'id')).toEqual(['p-1', 'p-2']);
  });

  it('rejects several columns without the header', () => {
    expect(() => columnFromCsv('id,voucher\n1,A\n', 'code')).toThrow('"code"');
  });
});
