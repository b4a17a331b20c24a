import { groupsOf, spaced } from '../../src/page/groups';

describe('groupsOf', () => {
  it.each([
    ['', ['']],
    ['4071', ['4071']],
    ['40711', ['4071', '1']],
    ['1234567890123456', ['1234', '5678', '9012', '3456']],
    ['GIFT-7K2M-93QX', ['GIFT-', '7K2M-', '93QX']],
    ['ABCDE--FGH', ['ABCDE--', 'FGH']],
    ['12345678-', ['1234', '5678-']],
    ['AB-1234567890123', ['AB-', '1234', '5678', '9012', '3']],
    ['ABCD--------', ['ABCD--------']],
  ])('splits %j into %j', (code, groups) => {
    expect(groupsOf(code)).toEqual(groups);
  });

  it('keeps the code, and never splits before a hyphen', () => {
    for (const code of ['A-B-C-D-E-F-G-H-I-J', '-----', 'AB12-CD34-EF56-GH78-', '-ABCDEFGH']) {
      const groups = groupsOf(code);
      expect(groups.join('')).toBe(code);
      for (const group of groups.slice(1)) expect(group).not.toMatch(/^-/);
    }
  });

  it('shows gaps only in a code without separators of its own', () => {
    expect(spaced('12345678')).toBe('1234 5678');
    expect(spaced('GIFT-7K2M')).toBe('GIFT-7K2M');
  });
});
