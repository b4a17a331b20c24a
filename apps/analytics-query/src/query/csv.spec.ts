import { csvCell } from './csv.js';

describe('a cell of a CSV', () => {
  it.each([
    [null, ''],
    ['', ''],
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['57', '57'],
    ['-15.50', '-15.50'],
    ['+1e3', '+1e3'],
    [-0.25, '-0.25'],
    ['=1+2', "'=1+2"],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['+SUM(A1)', "'+SUM(A1)"],
    ['-2+3', "'-2+3"],
    ['@cmd', "'@cmd"],
    ['\tx', "'\tx"],
    ['\rx', `"'\rx"`],
    ['-', "'-"],
    [{ plan: 'gold' }, '"{""plan"":""gold""}"'],
  ])('%j is %j', (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });
});
