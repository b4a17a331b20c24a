import { noAttributes, readCustomAttributes, type PerkViewEvent } from '@perkway/domain';
import { perkView } from './perk-view.js';

describe('perkView', () => {
  const collection = { id: 'the-collection', owner: 'the.account' };

  it('writes the JSON of the event', () => {
    const expected: PerkViewEvent = {
      v: 1,
      id: 'event-id',
      account: 'the.account',
      at: 1_760_000_000_000,
      type: 'perk_view',
      collection: 'the-collection',
      perks: ['a', 'b'],
    };
    for (const attributes of [undefined, noAttributes()])
      expect(perkView('event-id', collection, '["a","b"]', { attributes }, 1_760_000_000_000)).toBe(
        JSON.stringify(expected),
      );
  });

  it('includes the custom attributes of the read', () => {
    const attributes = readCustomAttributes({ utm_source: 'mail "x"', cmeta_user: '7', other: 'y' });
    expect(JSON.parse(perkView('event-id', collection, '["a"]', { attributes }))).toMatchObject({
      utm: { utm_source: 'mail "x"' },
      cmeta: { user: '7' },
    });
  });
});
