import { createHash } from 'node:crypto';

/** What is hashed before the id of a campaign; the query host derives the same ids in SQL. */
export const DERIVED_JOURNEY_SALT = 'perkway/journey/';
export const DERIVED_JOURNEY_PREFIX = 'c-';
/** Hexadecimal digits of the hash that become part of the id. */
export const DERIVED_JOURNEY_DIGITS = 32;

/** The journey of everybody who came without one: always the same for a campaign (specification section 2). */
export const deriveJourneyId = (campaignId: string): string =>
  DERIVED_JOURNEY_PREFIX +
  createHash('sha256')
    .update(DERIVED_JOURNEY_SALT + campaignId)
    .digest('hex')
    .slice(0, DERIVED_JOURNEY_DIGITS);

/** Whether a journey is the one of all who came to the campaign without one. */
export const isDerivedJourneyId = (journeyId: string, campaignId: string): boolean =>
  journeyId.startsWith(DERIVED_JOURNEY_PREFIX) && journeyId === deriveJourneyId(campaignId);
