import { createHash } from 'node:crypto';

export interface Campaign {
  id: string;
  /** The account. */
  owner: string;
  name: string;
  /** Perk ids in the order in which they are shown. */
  incentives: string[];
}

/** The journey of everybody who came without one: always the same for a campaign (specification section 2). */
export const deriveJourneyId = (campaignId: string): string =>
  `c-${createHash('sha256').update(`perkway/journey/${campaignId}`).digest('hex').slice(0, 32)}`;
