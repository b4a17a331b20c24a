import { isUnchanged } from './send-response.js';

describe('isUnchanged', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['W/"a"', true],
    ['"a"', true],
    ['*', true],
    [' * ', true],
    ['"b"', false],
    ['W/"b", W/"a"', true],
    ['"x,y","a"', true],
    ['a', false],
    ['"ab"', false],
    ['W/"a', false],
    ['"'.repeat(10_000), false],
  ])('compares %j with W/"a": %s', (header, expected) => {
    expect(isUnchanged(header, 'W/"a"')).toBe(expected);
  });
});
