import { groupsOf } from '../../src/page/groups';

describe('groupsOf', () => {
  it.each([
    ['', ['']],
    ['4071', ['4071']],
    ['40711', ['4071', '1']],
    ['1234567890123456', ['1234', '5678', '9012', '3456']],
    ['GIFT-7K2M-93QX', ['GIFT-7', 'K2M-9', '3QX']],
    ['ABCDE--FGH', ['ABCD', 'E--F', 'GH']],
    ['ABCD--------', ['ABCD--------']],
  ])('splits %j into %j', (code, groups) => {
    expect(groupsOf(code)).toEqual(groups);
  });

  it('keeps the code, and never splits next to a hyphen', () => {
    for (const code of ['A-B-C-D-E-F-G-H-I-J', '-----', 'AB12-CD34-EF56-GH78-', '-ABCDEFGH']) {
      const groups = groupsOf(code);
      expect(groups.join('')).toBe(code);
      for (const group of groups.slice(1)) expect(group).not.toMatch(/^-/);
      for (const group of groups.slice(0, -1)) expect(group).not.toMatch(/-$/);
    }
  });
});
