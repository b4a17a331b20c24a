import { hash } from 'node:crypto';

/** Prepended to the campaign id before hashing; the query host derives the same ids in SQL. */
export const DERIVED_JOURNEY_SALT = 'perkway/journey/';
export const DERIVED_JOURNEY_PREFIX = 'c-';
/** Number of hexadecimal digits of the hash in the id. */
export const DERIVED_JOURNEY_DIGITS = 32;

/** Returns the journey that all events of a campaign share if they came without one (specification section 2). */
export const deriveJourneyId = (campaignId: string): string =>
  DERIVED_JOURNEY_PREFIX +
  hash('sha256', DERIVED_JOURNEY_SALT + campaignId, 'hex').slice(0, DERIVED_JOURNEY_DIGITS);

/** Returns whether a journey is the one derived from the campaign. */
export const isDerivedJourneyId = (journeyId: string, campaignId: string): boolean =>
  journeyId.startsWith(DERIVED_JOURNEY_PREFIX) && journeyId === deriveJourneyId(campaignId);
