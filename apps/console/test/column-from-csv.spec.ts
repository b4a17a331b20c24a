import { cellsFromCsv, columnFromCsv } from '../web/src/import/column-from-csv';

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
    expect(() => columnFromCsv('id;voucher\n1;A\n', 'code')).toThrow('"code"');
    expect(() => columnFromCsv('A\tspring\nB\tspring\n', 'code')).toThrow('"code"');
  });

  it('reads columns that semicolons or tabs separate', () => {
    expect(columnFromCsv('code;batch\nSPA-1;spring\nSPA-2;"1;2"\n', 'code')).toEqual(['SPA-1', 'SPA-2']);
    expect(columnFromCsv('\uFEFF"Batch";"Code"\r\n"a, b";"SPA-1"\r\n', 'code')).toEqual(['SPA-1']);
    expect(columnFromCsv('batch\tcode\na,b\tSPA-1\n', 'code')).toEqual(['SPA-1']);
  });

  it('separates cells only at the delimiter of the header', () => {
    expect(columnFromCsv('note,code\na;b,SPA-1\n', 'code')).toEqual(['SPA-1']);
    expect(columnFromCsv('reference\na;b\n', 'reference')).toEqual(['a;b']);
  });

  it('tells whether there is a header', () => {
    const [first, last] = [
      { row: 1, value: 'Coupon code' },
      { row: 2, value: 'SPA-1' },
    ];
    expect(cellsFromCsv('Coupon code\nSPA-1\n', 'code')).toEqual({ cells: [first, last], hasHeader: false });
    expect(cellsFromCsv('code\nSPA-1\n', 'code')).toEqual({ cells: [last], hasHeader: true });
  });

  it('rejects a file that was not UTF-8', () => {
    const text = new TextDecoder().decode(Buffer.from('code\nCAFÉ-1\n', 'latin1'));
    expect(() => columnFromCsv(text, 'code')).toThrow('not in UTF-8');
  });
});
