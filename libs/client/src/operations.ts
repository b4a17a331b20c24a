/**
 * Every operation by `operationId`, as `METHOD path`. After `?`: members that go into the query although the request
 * has a body. `*`: the body is sent as it is, not as JSON. `package.fleet-spec.ts` compares this with the OpenAPI
 * documents.
 */
export const OPERATIONS = {
  perks: {
    listPerkCollections: 'GET /perk-collections',
    getPerkCollection: 'GET /perk-collections/{collectionId}',
    getPerkOfCollection: 'GET /perk-collections/{collectionId}/perk/{perkId}',
    getPerkCollectionCategories: 'GET /perk-collections/{collectionId}/categories',
    allocateCouponCode: 'POST /perk-collections/{collectionId}/perk/{perkId}/coupon',
    listStoredCategories: 'GET /admin/categories',
    getStoredCategory: 'GET /admin/categories/{id}',
    putCategory: 'PUT /admin/categories/{id}',
    deleteCategory: 'DELETE /admin/categories/{id}',
    listStoredPerks: 'GET /admin/perks',
    getStoredPerk: 'GET /admin/perks/{perkId}',
    putPerk: 'PUT /admin/perks/{perkId}',
    deletePerk: 'DELETE /admin/perks/{perkId}',
    loadCouponCodes: 'POST /admin/perks/{perkId}/coupon-codes',
    getCouponCodeStock: 'GET /admin/perks/{perkId}/coupon-codes',
    listStoredPerkCollections: 'GET /admin/perk-collections',
    getStoredPerkCollection: 'GET /admin/perk-collections/{collectionId}',
    putPerkCollection: 'PUT /admin/perk-collections/{collectionId}',
    deletePerkCollection: 'DELETE /admin/perk-collections/{collectionId}',
  },
  boost: {
    listCampaigns: 'GET /campaigns',
    getCampaign: 'GET /campaigns/{campaignId}',
    getPixelUrls: 'GET /outreach/campaign/{campaignId}/pixel-urls',
    generateRewardUrl: 'GET /outreach/campaign/{campaignId}/reward-url',
    registerOutreachClick: 'GET /outreach/click',
    trackOutreachTeaserView: 'GET /outreach/campaign/{campaignId}/tracking-pixel/teaser',
    trackOutreachRewardView: 'GET /outreach/campaign/{campaignId}/tracking-pixel/reward',
    getTeasers: 'GET /teasers/{campaignId}',
    getRewards: 'GET /rewards/{campaignId}',
    trackJourneyEvent: 'POST /track/{campaignId}?disableTracking',
    followJourneyClick: 'GET /click',
    listStoredCampaigns: 'GET /admin/campaigns',
    getStoredCampaign: 'GET /admin/campaigns/{campaignId}',
    putCampaign: 'PUT /admin/campaigns/{campaignId}',
    deleteCampaign: 'DELETE /admin/campaigns/{campaignId}',
  },
  gift: {
    getGiftCardPools: 'GET /pools',
    getGiftCardPool: 'GET /pool/{poolId}',
    generateRewardLink: 'POST /pool/{poolId}/reward-links?idempotencyKey',
    listRewardLinks: 'GET /reward-links',
    getIssuedRewardLink: 'GET /reward-links/{linkId}',
    cancelRewardLink: 'POST /reward-links/{linkId}/cancel',
    replaceRewardLink: 'POST /reward-links/{linkId}/replace',
    listLimits: 'GET /limits',
    getLimit: 'GET /limits/{limitId}',
    getLimitUsage: 'GET /limits/{limitId}/usage',
    getStatement: 'GET /statements',
    getSignedStatement: 'GET /statements/{month}.jws',
    listStoredLimits: 'GET /admin/limits',
    getStoredLimit: 'GET /admin/limits/{limitId}',
    getStoredLimitUsage: 'GET /admin/limits/{limitId}/usage',
    putLimit: 'PUT /admin/limits/{limitId}',
    deleteLimit: 'DELETE /admin/limits/{limitId}',
    findRewardLinks: 'GET /admin/reward-links',
    listStoredGiftCardPools: 'GET /admin/pools',
    getStoredGiftCardPool: 'GET /admin/pools/{poolId}',
    putGiftCardPool: 'PUT /admin/pools/{poolId}',
    deleteGiftCardPool: 'DELETE /admin/pools/{poolId}',
    loadGiftCards: 'POST /admin/pools/{poolId}/cards?fileName,loadId*',
    checkGiftCards: 'POST /admin/pools/{poolId}/cards/check*',
    getGiftCardLoads: 'GET /admin/pools/{poolId}/loads',
    getGiftCardLoad: 'GET /admin/pools/{poolId}/loads/{loadId}',
    withdrawCards: 'POST /admin/pools/{poolId}/withdrawals',
    checkWithdrawal: 'POST /admin/pools/{poolId}/withdrawals/check',
    listWithdrawals: 'GET /admin/pools/{poolId}/withdrawals',
    getWithdrawal: 'GET /admin/pools/{poolId}/withdrawals/{withdrawalId}',
  },
  token: {
    issueCubeToken: 'GET /cube/token',
    getAnalyticsJwks: 'GET /.well-known/jwks.json',
    listAccounts: 'GET /admin/accounts',
    getAccount: 'GET /admin/accounts/{accountId}',
    putAccount: 'PUT /admin/accounts/{accountId}',
    listPeople: 'GET /admin/accounts/{accountId}/people',
    getPerson: 'GET /admin/accounts/{accountId}/people/{email}',
    putPerson: 'PUT /admin/accounts/{accountId}/people/{email}',
    deletePerson: 'DELETE /admin/accounts/{accountId}/people/{email}',
    requestErasure: 'POST /admin/accounts/{accountId}/erasures',
    listErasures: 'GET /admin/accounts/{accountId}/erasures',
    getErasure: 'GET /admin/accounts/{accountId}/erasures/{erasureId}',
    createApiKey: 'POST /admin/accounts/{accountId}/keys',
    listApiKeys: 'GET /admin/accounts/{accountId}/keys',
    revokeApiKey: 'DELETE /admin/accounts/{accountId}/keys/{keyId}',
    rotateApiKey: 'POST /admin/accounts/{accountId}/keys/{keyId}/rotate',
    listAllApiKeys: 'GET /admin/keys',
  },
  analytics: {
    getMeta: 'GET /cubejs-api/v1/meta',
    load: 'GET /cubejs-api/v1/load',
    loadByPost: 'POST /cubejs-api/v1/load',
    subscribe: 'GET /cubejs-api/v1/subscribe',
    subscribeByPost: 'POST /cubejs-api/v1/subscribe',
    sql: 'GET /cubejs-api/v1/sql',
    sqlByPost: 'POST /cubejs-api/v1/sql',
    dryRun: 'GET /cubejs-api/v1/dry-run',
    dryRunByPost: 'POST /cubejs-api/v1/dry-run',
  },
  events: {
    listEvents: 'GET /events',
    getEvent: 'GET /events/{eventId}',
    listWebhooks: 'GET /webhooks',
    getWebhook: 'GET /webhooks/{webhookId}',
    putWebhook: 'PUT /webhooks/{webhookId}',
    deleteWebhook: 'DELETE /webhooks/{webhookId}',
    rotateWebhookSecret: 'POST /webhooks/{webhookId}/rotate',
    pingWebhook: 'POST /webhooks/{webhookId}/ping',
    listWebhookDeliveries: 'GET /webhooks/{webhookId}/deliveries',
    retryWebhookDelivery: 'POST /webhooks/{webhookId}/deliveries/{eventId}/retry',
    replayWebhook: 'POST /webhooks/{webhookId}/replay',
  },
} as const;

/** Header by the name of its member, unless the operation has the member in its query. */
export const HEADERS = {
  createdBy: 'X-Created-By',
  disableViewTracking: 'X-Disable-View-Tracking',
  idempotencyKey: 'Idempotency-Key',
  ifMatch: 'If-Match',
  acceptLanguage: 'Accept-Language',
} as const;

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** Members in the path; `inQuery` has the query members of a request with a body. */
  inPath: string[];
  inQuery: string[];
  isRaw: boolean;
}

export function parseOperation(text: string): Operation {
  const [, method, path, query = '', raw] = /^(\w+) ([^?*]+)(?:\?([\w,]+))?(\*)?$/.exec(text)!;
  return {
    method: method as Operation['method'],
    path: path!,
    inPath: [...path!.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
    inQuery: query === '' ? [] : query.split(','),
    isRaw: raw !== undefined,
  };
}
