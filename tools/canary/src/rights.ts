import type { Right } from './search.js';

/** Every place that may hold a canary, and why. Anywhere else it is a leak. */
export const RIGHTS: readonly Right[] = [
  {
    kind: 'person',
    place: /^analytics\.tracking_events_\d{4}_\d\d$/,
    because: 'Stored events, with the journey and the attributes that the client sent',
  },
  { kind: 'person', place: /^TRACKING_EVENTS$/, because: 'The same events in the stream, kept for replays' },
  {
    kind: 'person',
    place: /^TRACKING_DEAD$/,
    because: 'Dead letters, for people to look at',
  },
  { kind: 'person', place: /\.tracking_outbox$/, because: 'The same events while the broker is unreachable' },
  {
    kind: 'person',
    place: /^events\.events$/,
    because: 'The feed of the account that sent it, until it is erased',
  },
  {
    kind: 'person',
    place: /^gift_cards\.reward_links$/,
    because: 'The journey and reference that a link was created with',
  },
  {
    kind: 'person',
    place: /^catalog\.coupon_codes$/,
    because: 'The owner of a code: the same customer always gets the same one',
  },
  {
    kind: 'person',
    place: /^console\.link_job_rows$/,
    because: 'The references of the links that a job creates',
  },
  {
    kind: 'person',
    place: /^accounts\.erasures$/,
    because: 'Who is to be erased, until the erasure is done',
  },
  {
    kind: 'person',
    place: /^response 400 of query /,
    because: 'An error names the members of an invalid query, as Cube does, to its sender',
  },
  {
    kind: 'coupon code',
    place: /^catalog\.coupon_codes$/,
    because: 'Codes of partners that customers see; the partner knows them, and they are not money',
  },
];
