import type { Right } from './search.js';

/** Every place that may hold a canary, and why. Whatever else has one is a leak. */
export const RIGHTS: readonly Right[] = [
  {
    kind: 'person',
    place: /^analytics\.tracking_events_\d{4}_\d\d$/,
    because: 'What was tracked, with the journey and the attributes that the client gave',
  },
  {
    kind: 'person',
    place: /^analytics\.conversion_ids$/,
    because: 'Counts a conversion once by its external id',
  },
  { kind: 'person', place: /^TRACKING_EVENTS$/, because: 'The same events on their way, kept for replays' },
  {
    kind: 'person',
    place: /^TRACKING_DEAD$/,
    because: 'Events that could not be stored, for people to look at',
  },
  { kind: 'person', place: /\.tracking_outbox$/, because: 'The same events while the broker is away' },
  {
    kind: 'person',
    place: /^gift_cards\.reward_links$/,
    because: 'The journey and reference that a link was made with',
  },
  {
    kind: 'person',
    place: /^catalog\.coupon_codes$/,
    because: 'Whose code it is: asking again gives the same',
  },
  {
    kind: 'person',
    place: /^console\.link_job_rows$/,
    because: 'The references of the links that a job makes',
  },
  { kind: 'person', place: /^accounts\.erasures$/, because: 'Who is to be erased, until that is done' },
  {
    kind: 'person',
    place: /^answer 400 of query /,
    because: 'A wrong query is told by the names in it, as Cube does, to whoever sent them',
  },
  {
    kind: 'coupon code',
    place: /^catalog\.coupon_codes$/,
    because: 'Codes of partners that customers are shown; the partner knows them, and they are no money',
  },
];
