import { allowListedOrigins } from '@perkway/auth';
import { AccountDirectory } from '@perkway/directory';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';

const JOURNEY_PATH = /^\/(?:teasers|track|rewards)\/([^/?]+)(?:\?|$)/;

/** Allows the listed origins of a campaign's account to call the customer journey of that campaign. */
export function allowJourneyOrigins(app: NestFastifyApplication): void {
  const accounts = app.get(AccountDirectory, { strict: false });
  const campaigns = app.get(CampaignDirectory, { strict: false });
  allowListedOrigins(app.getHttpAdapter().getInstance(), {
    accountOf: (url) => {
      const campaignId = JOURNEY_PATH.exec(url)?.[1];
      return campaignId === undefined ? null : campaigns.find(campaignId).then((campaign) => campaign?.owner);
    },
    originsOf: (account) => accounts.allowedOrigins(account),
    isListedByAny: (origin) => accounts.isListedOrigin(origin),
    allowMethods: 'GET, HEAD, POST',
    allowHeaders: 'content-type, x-api-key',
    // Sites that were built before JOURNEY keys existed keep working.
    allowsServerKeys: true,
  });
}
