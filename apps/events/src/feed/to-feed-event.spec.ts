import type { TrackingEvent } from '@perkway/domain';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toFeedEvent } from './to-feed-event.js';

const head = { v: 1, id: 'e1', account: 'acme', at: Date.UTC(2026, 0, 1) } as const;
const tags = { utm: { utm_source: 'mail' }, cmeta: { plan: 'gold' } };
const traffic = { class: 'human', reason: 'none' } as const;
const campaign = { campaign: 'spring', journey: 'j-1' };
const map = (event: object) => toFeedEvent({ ...head, ...event } as TrackingEvent);

it.each([
  [
    { type: 'perk_click', collection: 'autumn', perk: 'coffee', journey: 'j-1', traffic, ...tags },
    'perk.clicked',
    'perk/coffee',
    { perk_id: 'coffee', collection_id: 'autumn', journey_id: 'j-1', traffic_class: 'human', ...tags },
  ],
  [
    { type: 'teaser_view', ...campaign, channel: 'outreach', traffic, ...tags },
    'teaser.viewed',
    'journey/j-1',
    { campaign_id: 'spring', journey_id: 'j-1', channel: 'outreach', traffic_class: 'human', ...tags },
  ],
  [
    { type: 'reward_view', ...campaign, channel: 'journey', perk: 'coffee' },
    'reward.viewed',
    'journey/j-1',
    { campaign_id: 'spring', journey_id: 'j-1', perk_id: 'coffee', channel: 'journey' },
  ],
  [
    { type: 'incentive_click', ...campaign, channel: 'journey', perk: 'coffee' },
    'incentive.clicked',
    'journey/j-1',
    { campaign_id: 'spring', journey_id: 'j-1', perk_id: 'coffee', channel: 'journey' },
  ],
  [
    { type: 'conversion', ...campaign, value: 12.5, currency: 'EUR', externalId: 'order-1' },
    'conversion.recorded',
    'journey/j-1',
    { campaign_id: 'spring', journey_id: 'j-1', value: 12.5, currency: 'EUR', external_id: 'order-1' },
  ],
  [
    { type: 'limit_reached', limit: 'budget', value: 'spring', periodStart: head.at, resetsAt: head.at + 1 },
    'limit.reached',
    'limit/budget',
    {
      limit_id: 'budget',
      value: 'spring',
      period_start: '2026-01-01T00:00:00.000Z',
      resets_at: '2026-01-01T00:00:00.001Z',
    },
  ],
  [
    { type: 'limit_reached', limit: 'budget', periodStart: 0, resetsAt: null },
    'limit.reached',
    'limit/budget',
    { limit_id: 'budget', period_start: '1970-01-01T00:00:00.000Z', resets_at: null },
  ],
  [
    { type: 'cards_withdrawn', withdrawal: 'w-1', pool: 'p-1', withdrawn: 7, cancelled: 2, redeemed: 1 },
    'cards.withdrawn',
    'pool/p-1',
    { withdrawal_id: 'w-1', pool_id: 'p-1', withdrawn: 7, cancelled: 2, redeemed: 1 },
  ],
])('maps %j', (event, type, subject, data) => {
  expect(map(event)).toEqual({
    id: 'e1',
    type,
    occurred_at: '2026-01-01T00:00:00.000Z',
    subject,
    data,
  });
});

it.each([
  { type: 'perk_view', collection: 'autumn', perks: ['coffee'] },
  { type: 'perk_named', perk: 'coffee', title: 'Coffee', partner: 'cafe' },
  { type: 'campaign_named', campaign: 'spring', name: 'Spring' },
])('leaves %j out of the feed', (event) => {
  expect(map(event)).toBeUndefined();
});

it('makes the data that docs/events.md shows', () => {
  const perk = 'fernway-weekend';
  const sent = { campaign: 'ostervale-spring-travel', journey: 'j-4711', perk };
  const utm = { utm_source: 'newsletter' };
  const cmeta = { plan: 'gold' };
  const events = [
    { type: 'perk_click', collection: 'ostervale-rewards', perk, journey: 'j-4711', traffic, utm, cmeta },
    { type: 'incentive_click', ...sent, channel: 'outreach', traffic: { class: 'mail_proxy' }, utm, cmeta },
    { type: 'conversion', ...sent, value: 129.9, currency: 'EUR', externalId: 'order-90210', cmeta },
  ];
  const page = readFileSync(join(__dirname, '../../../../docs/events.md'), 'utf8');
  const samples = [...page.matchAll(/```json\n(.*?)```/gs)].map(
    ([, sample]) => JSON.parse(sample!) as object,
  );
  expect(samples).toEqual(events.map((event) => JSON.parse(JSON.stringify(map(event)!.data)) as object));
});
