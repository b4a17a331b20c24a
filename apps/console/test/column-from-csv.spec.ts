import { addLinks } from '../web/src/import/add-links';
import { cellsFromCsv, columnFromCsv, MissingColumnError } from '../web/src/import/column-from-csv';

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

  it('offers the columns of a file without the header', () => {
    let missing: unknown;
    try {
      columnFromCsv('E-mail;"Customer; number"\nann@mail.example;7\nbo@mail.example;\n', 'reference');
    } catch (error) {
      missing = error;
    }
    expect(missing).toBeInstanceOf(MissingColumnError);
    const { names } = missing as MissingColumnError;
    expect(names).toEqual(['E-mail', 'Customer; number']);
    expect((missing as MissingColumnError).valuesOf(1)).toEqual(['7']);
  });

  it('reads columns that semicolons or tabs separate', () => {
    expect(columnFromCsv('code;batch\nSPA-1;spring\nSPA-2;"1;2"\n', 'code')).toEqual(['SPA-1', 'SPA-2']);
    expect(columnFromCsv('\uFEFF"Batch";"Code"\r\n"a, b";"SPA-1"\r\n', 'code')).toEqual(['SPA-1']);
    expect(columnFromCsv('batch\tcode\na,b\tSPA-1\n', 'code')).toEqual(['SPA-1']);
  });

  it('separates cells only at the delimiter of the header', () => {
    expect(columnFromCsv('note,code\na;b,SPA-1\n', 'code')).toEqual(['SPA-1']);
    expect(columnFromCsv('reference\na;b\n', 'reference')).toEqual(['a;b']);
    expect(columnFromCsv('crm;17\nweb\n', 'reference')).toEqual(['crm;17', 'web']);
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

describe('addLinks', () => {
  const OF_JOB = `reference,link,expiry,state
u-1,https://gift.example/#one,,waiting
"'=2",https://gift.example/#two,,opened
u-3,https://gift.example/#three,,cancelled
,https://gift.example/#four,,waiting
`;

  it('adds the links by the column with the most references, and keeps all other cells', () => {
    const file =
      'Email,Old id,ID,Phone\nann@x.example,u-1,=2,+1 2\nbo@x.example,,u-1\ncy@x.example,u-9,u-3,,more\n';
    expect(addLinks(file, OF_JOB)).toEqual({
      head: ['Email', 'Old id', 'ID', 'Phone', '', 'link'],
      rows: [
        ['ann@x.example', 'u-1', '=2', '+1 2', '', 'https://gift.example/#two'],
        ['bo@x.example', '', 'u-1', '', '', 'https://gift.example/#one'],
        // The link of u-3 is cancelled.
        ['cy@x.example', 'u-9', 'u-3', '', 'more', ''],
      ],
      matched: 2,
      column: 'ID',
    });
  });

  it('reads a file with semicolons', () => {
    expect(addLinks('Email;ID\nann@x.example;u-1\n', OF_JOB).rows).toEqual([
      ['ann@x.example', 'u-1', 'https://gift.example/#one'],
    ]);
  });

  it('rejects a file without references of the job, and one that has links', () => {
    expect(() => addLinks('id,name\nu-3,Cy\n', OF_JOB)).toThrow('No column of the file');
    expect(() => addLinks('id,Link\nu-1,x\n', OF_JOB)).toThrow('already has a column');
    expect(() => addLinks("'=2,a\nu-1,b\n", OF_JOB)).toThrow('has no header');
    expect(() => addLinks('id,name\nu-1,M\uFFFDller\n', OF_JOB)).toThrow('not in UTF-8');
  });
});
