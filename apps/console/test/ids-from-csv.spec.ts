import { codesFromCsv } from '../web/src/import/ids-from-csv';

describe('codesFromCsv', () => {
  it('reads the column with the header, however it is capitalized', () => {
    expect(codesFromCsv('id,Code\n1,A\n2,B\n')).toEqual(['A', 'B']);
    expect(codesFromCsv('Code\nA\n')).toEqual(['A']);
  });

  it('takes every line of a file of one column without the header', () => {
    expect(codesFromCsv('A\nB\n')).toEqual(['A', 'B']);
  });

  it('rejects several columns without the header', () => {
    expect(() => codesFromCsv('id,voucher\n1,A\n')).toThrow('"code"');
  });
});
