import { mayCarry, sourceOf, subjectOf, trackingSubject, type TrackingEventType } from './tracking-events.js';

const COPIES = ['tracking.analytics-query', 'tracking.replay'];

it('only the subject of its app, and copies, may carry a type', () => {
  const owners: Record<TrackingEventType, string> = {
    perk_view: 'perks',
    perk_named: 'perks',
    perk_click: 'links',
    teaser_view: 'boost',
    reward_view: 'boost',
    incentive_click: 'boost',
    conversion: 'boost',
    campaign_named: 'boost',
    reward_link: 'gift-cards',
    limit_reached: 'gift-cards',
    cards_withdrawn: 'gift-cards',
  };
  for (const [type, owner] of Object.entries(owners) as [TrackingEventType, string][]) {
    expect(subjectOf(type)).toBe(trackingSubject(owner));
    for (const app of ['perks', 'links', 'boost', 'gift-cards', 'console', 'test'])
      expect(mayCarry(trackingSubject(app), type)).toBe(app === owner);
    for (const copy of COPIES) expect(mayCarry(copy, type)).toBe(true);
  }
});

it('only a copy may name another source than its own subject', () => {
  for (const copy of COPIES) {
    expect(sourceOf(copy, 'tracking.links')).toBe('tracking.links');
    expect(sourceOf(copy, '')).toBe(copy);
    expect(sourceOf(copy)).toBe(copy);
  }
  expect(sourceOf('tracking.links', 'tracking.boost')).toBe('tracking.links');
});
