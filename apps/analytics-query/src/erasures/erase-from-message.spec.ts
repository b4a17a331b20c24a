import { stringsIn } from './erase-from-message.js';

describe('stringsIn', () => {
  it('returns the longest journey, counted in code points', () => {
    const journey = '🎁'.repeat(255);
    expect(stringsIn({ journey })).toContain(journey);
  });

  it('returns the journey of an event with more strings than are looked up', () => {
    const perks = Array.from({ length: 5_000 }, (_, index) => `perk-${index}`);
    expect(stringsIn({ journey: 'j-1', perks })).toContain('j-1');
  });
});
