import { allowListedOrigins, KeyStore } from '@perkway/auth';
import { AccountDirectory } from '@perkway/directory';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';

const JOURNEY_PATH = /^\/(?:teasers|track|rewards)\/([^/?]+)(?:\?|$)/;

/** Pages of the web sites of a campaign's account may call the customer journey of that campaign. */
export function allowJourneyOrigins(app: NestFastifyApplication): void {
  const accounts = app.get(AccountDirectory, { strict: false });
  const campaigns = app.get(CampaignDirectory, { strict: false });
  allowListedOrigins(app.getHttpAdapter().getInstance(), app.get(KeyStore, { strict: false }), {
    accountOf: (url) => {
      const campaignId = JOURNEY_PATH.exec(url)?.[1];
      return campaignId === undefined ? null : campaigns.find(campaignId).then((campaign) => campaign?.owner);
    },
    originsOf: (account) => accounts.allowedOrigins(account),
    allowMethods: 'GET, HEAD, POST',
    allowHeaders: 'content-type, x-api-key',
    // Sites of before there were keys of role JOURNEY go on working.
    allowsServerKeys: true,
  });
}
