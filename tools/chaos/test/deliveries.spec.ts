import type { FeedEvent } from '@perkway/domain';
import { problemsOf } from '../src/deliveries.js';

const event = (id: string, subject = 'perk/one'): FeedEvent => ({
  id,
  subject,
  type: 'perk.clicked',
  occurred_at: '2026-01-01T00:00:00.000Z',
  data: {},
});
const [a, b, c] = [event('a'), event('b'), event('c', 'perk/two')];
const check = (accepted: FeedEvent[], isOrdered = true) =>
  problemsOf({ webhook: 'w', isOrdered, expected: [a, b, c], accepted });

it('accepts repetitions, other subjects in between and events that were not expected', () => {
  expect(check([event('before'), c, a, a, b, a])).toEqual([]);
});

it('reports what is missing, late for its subject, or different', () => {
  expect(check([a, b])).toEqual(['1 events were not delivered to w; the first is c']);
  expect(check([b, a, c])).toEqual(['event a of perk/one was delivered to w out of order']);
  expect(check([b, a, c], false)).toEqual([]);
  expect(check([{ ...a, data: { x: 1 } }, b, c])).toEqual([
    'event a was delivered to w with content that differs from the feed',
  ]);
});
