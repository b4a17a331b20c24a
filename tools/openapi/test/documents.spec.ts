import { SCOPES, type AppName, type Scope } from '@perkway/domain';
import { APPS } from '@perkway/fleet';
import { schemaChecker, typeErrors } from '@perkway/testing';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApiDocument } from '../src/documents';
import { documentFromSources } from './sources';
import { allSchemas, routesOf, schemasOf, valuesOf, type Schema } from './walk';

const PUBLIC_PATHS = readFileSync(join(__dirname, '../../../docker/proxy/public-paths.lst'), 'utf8')
  .split('\n')
  .filter((line) => /^\w/.test(line));

/** The operations of every host. Add a line for each new one. */
const OPERATIONS: Record<AppName, Record<string, string>> = {
  perks: {
    'GET /perk-collections': 'listPerkCollections',
    'GET /perk-collections/{collectionId}': 'getPerkCollection',
    'GET /perk-collections/{collectionId}/perk/{perkId}': 'getPerkOfCollection',
    'GET /perk-collections/{collectionId}/categories': 'getPerkCollectionCategories',
    'POST /perk-collections/{collectionId}/perk/{perkId}/coupon': 'allocateCouponCode',
    'GET /admin/categories': 'listStoredCategories',
    'GET /admin/categories/{id}': 'getStoredCategory',
    'PUT /admin/categories/{id}': 'putCategory',
    'DELETE /admin/categories/{id}': 'deleteCategory',
    'GET /admin/perks': 'listStoredPerks',
    'GET /admin/perks/{perkId}': 'getStoredPerk',
    'PUT /admin/perks/{perkId}': 'putPerk',
    'DELETE /admin/perks/{perkId}': 'deletePerk',
    'POST /admin/perks/{perkId}/coupon-codes': 'loadCouponCodes',
    'GET /admin/perks/{perkId}/coupon-codes': 'getCouponCodeStock',
    'GET /admin/perk-collections': 'listStoredPerkCollections',
    'GET /admin/perk-collections/{collectionId}': 'getStoredPerkCollection',
    'PUT /admin/perk-collections/{collectionId}': 'putPerkCollection',
    'DELETE /admin/perk-collections/{collectionId}': 'deletePerkCollection',
  },
  links: { 'GET /c/{token}': 'followClickUrl' },
  boost: {
    'GET /outreach/campaign/{campaignId}/pixel-urls': 'getPixelUrls',
    'GET /outreach/campaign/{campaignId}/reward-url': 'generateRewardUrl',
    'GET /outreach/click': 'registerOutreachClick',
    'GET /outreach/campaign/{campaignId}/tracking-pixel/teaser': 'trackOutreachTeaserView',
    'GET /outreach/campaign/{campaignId}/tracking-pixel/reward': 'trackOutreachRewardView',
    'GET /teasers/{campaignId}': 'getTeasers',
    'GET /rewards/{campaignId}': 'getRewards',
    'POST /track/{campaignId}': 'trackJourneyEvent',
    'GET /campaigns': 'listCampaigns',
    'GET /campaigns/{campaignId}': 'getCampaign',
    'GET /click': 'followJourneyClick',
    'GET /admin/campaigns': 'listStoredCampaigns',
    'GET /admin/campaigns/{campaignId}': 'getStoredCampaign',
    'PUT /admin/campaigns/{campaignId}': 'putCampaign',
    'DELETE /admin/campaigns/{campaignId}': 'deleteCampaign',
  },
  'gift-cards': {
    'GET /pools': 'getGiftCardPools',
    'GET /pool/{poolId}': 'getGiftCardPool',
    'POST /pool/{poolId}/reward-links': 'generateRewardLink',
    'GET /reward-links': 'listRewardLinks',
    'GET /reward-links/{linkId}': 'getIssuedRewardLink',
    'POST /reward-links/{linkId}/cancel': 'cancelRewardLink',
    'POST /reward-links/{linkId}/replace': 'replaceRewardLink',
    'GET /limits': 'listLimits',
    'GET /limits/{limitId}': 'getLimit',
    'GET /limits/{limitId}/usage': 'getLimitUsage',
    'GET /statements': 'getStatement',
    'GET /statements/{month}.jws': 'getSignedStatement',
    'GET /admin/limits': 'listStoredLimits',
    'GET /admin/limits/{limitId}': 'getStoredLimit',
    'GET /admin/limits/{limitId}/usage': 'getStoredLimitUsage',
    'PUT /admin/limits/{limitId}': 'putLimit',
    'DELETE /admin/limits/{limitId}': 'deleteLimit',
    'GET /admin/reward-links': 'findRewardLinks',
    'GET /admin/pools': 'listStoredGiftCardPools',
    'GET /admin/pools/{poolId}': 'getStoredGiftCardPool',
    'PUT /admin/pools/{poolId}': 'putGiftCardPool',
    'DELETE /admin/pools/{poolId}': 'deleteGiftCardPool',
    'POST /admin/pools/{poolId}/cards': 'loadGiftCards',
    'POST /admin/pools/{poolId}/cards/check': 'checkGiftCards',
    'GET /admin/pools/{poolId}/loads': 'getGiftCardLoads',
    'GET /admin/pools/{poolId}/loads/{loadId}': 'getGiftCardLoad',
    'POST /admin/pools/{poolId}/withdrawals': 'withdrawCards',
    'POST /admin/pools/{poolId}/withdrawals/check': 'checkWithdrawal',
    'GET /admin/pools/{poolId}/withdrawals': 'listWithdrawals',
    'GET /admin/pools/{poolId}/withdrawals/{withdrawalId}': 'getWithdrawal',
  },
  'allocation-page': {
    'GET /api/reward-link': 'getRewardLink',
    'POST /api/reward-link/reveal': 'revealRewardLink',
  },
  'token-issuer': {
    'GET /cube/token': 'issueCubeToken',
    'GET /.well-known/jwks.json': 'getAnalyticsJwks',
    'GET /admin/accounts': 'listAccounts',
    'GET /admin/accounts/{accountId}': 'getAccount',
    'PUT /admin/accounts/{accountId}': 'putAccount',
    'GET /admin/accounts/{accountId}/people': 'listPeople',
    'GET /admin/accounts/{accountId}/people/{email}': 'getPerson',
    'PUT /admin/accounts/{accountId}/people/{email}': 'putPerson',
    'DELETE /admin/accounts/{accountId}/people/{email}': 'deletePerson',
    'POST /admin/accounts/{accountId}/erasures': 'requestErasure',
    'GET /admin/accounts/{accountId}/erasures': 'listErasures',
    'GET /admin/accounts/{accountId}/erasures/{erasureId}': 'getErasure',
    'POST /admin/accounts/{accountId}/keys': 'createApiKey',
    'GET /admin/accounts/{accountId}/keys': 'listApiKeys',
    'DELETE /admin/accounts/{accountId}/keys/{keyId}': 'revokeApiKey',
    'POST /admin/accounts/{accountId}/keys/{keyId}/rotate': 'rotateApiKey',
    'GET /admin/keys': 'listAllApiKeys',
  },
  'analytics-query': {
    'GET /cubejs-api/v1/meta': 'getMeta',
    'GET /cubejs-api/v1/load': 'load',
    'POST /cubejs-api/v1/load': 'loadByPost',
    'GET /cubejs-api/v1/subscribe': 'subscribe',
    'POST /cubejs-api/v1/subscribe': 'subscribeByPost',
    'GET /cubejs-api/v1/sql': 'sql',
    'POST /cubejs-api/v1/sql': 'sqlByPost',
    'GET /cubejs-api/v1/dry-run': 'dryRun',
    'POST /cubejs-api/v1/dry-run': 'dryRunByPost',
  },
  console: {
    'POST /api/session': 'signIn',
    'GET /api/session': 'getSession',
    'DELETE /api/session': 'signOut',
    'POST /api/view': 'viewAccount',
    'DELETE /api/view': 'endView',
    'GET /api/sign-in': 'getSignInOptions',
    'GET /api/operators-home': 'getOperatorsHome',
    'GET /api/stock': 'getStock',
    'GET /api/low-stock': 'getLowStock',
    'GET /api/low-codes': 'getLowCodes',
    'GET /api/nearly-used-limits': 'getNearlyUsedLimits',
    'GET /api/accounts/{accountId}/webhooks': 'getWebhooksOfAccount',
    'POST /api/accounts/{accountId}/person': 'getDataOfPerson',
    'GET /api/keys': 'listKeys',
    'POST /api/keys': 'createKey',
    'DELETE /api/keys/{keyId}': 'revokeKey',
    'POST /api/keys/{keyId}/rotate': 'rotateKey',
    'GET /api/audit-log': 'listAuditLog',
    'GET /api/audit-log/export': 'exportAuditLog',
    'POST /api/link-jobs': 'createLinkJob',
    'POST /api/link-jobs/check': 'checkReferences',
    'GET /api/link-jobs': 'listLinkJobs',
    'GET /api/link-jobs/{jobId}': 'getLinkJob',
    'GET /api/link-jobs/{jobId}/csv': 'getLinkJobCsv',
    'GET /api/link-jobs/{jobId}/results': 'getLinkJobResults',
    'GET /api/link-jobs/{jobId}/links': 'countLinkStates',
    'GET /api/link-jobs/{jobId}/reward-links': 'listLinksOfJob',
    'POST /api/link-jobs/{jobId}/cancel': 'cancelLinksOfJob',
    'POST /api/link-jobs/{jobId}/stop': 'stopLinkJob',
    'POST /api/link-jobs/{jobId}/resume': 'resumeLinkJob',
    'POST /api/link-jobs/{jobId}/approve': 'approveLinkJob',
    'POST /api/link-jobs/{jobId}/reject': 'rejectLinkJob',
    'POST /api/reports': 'createReport',
    'GET /api/reports': 'listReports',
    'DELETE /api/reports/{reportId}': 'revokeReport',
    'POST /api/reports/read': 'readReport',
    'GET /api/saved-questions': 'listSavedQuestions',
    'POST /api/saved-questions': 'saveQuestion',
    'DELETE /api/saved-questions/{questionId}': 'deleteSavedQuestion',
    'GET /api/health': 'getHealth',
  },
  events: {
    'GET /events': 'listEvents',
    'GET /events/{eventId}': 'getEvent',
    'GET /webhooks': 'listWebhooks',
    'GET /webhooks/{webhookId}': 'getWebhook',
    'PUT /webhooks/{webhookId}': 'putWebhook',
    'DELETE /webhooks/{webhookId}': 'deleteWebhook',
    'POST /webhooks/{webhookId}/rotate': 'rotateWebhookSecret',
    'POST /webhooks/{webhookId}/ping': 'pingWebhook',
    'GET /webhooks/{webhookId}/deliveries': 'listWebhookDeliveries',
    'POST /webhooks/{webhookId}/deliveries/{eventId}/retry': 'retryWebhookDelivery',
    'POST /webhooks/{webhookId}/replay': 'replayWebhook',
  },
};

describe.each(APPS)('the OpenAPI document of %s', (app) => {
  let document: OpenApiDocument;
  beforeAll(async () => {
    document = await documentFromSources(app);
  });

  it('has every operation, with the name in the specification', () => {
    expect(
      Object.fromEntries(routesOf(document).map(({ name, operationId }) => [name, operationId])),
    ).toEqual(OPERATIONS[app]);
  });

  it('has no public path that the proxy does not forward', () => {
    const [host] = new URL(document.servers![0]!.url).hostname.split('.');
    const isPublic = (path: string) => PUBLIC_PATHS.some((prefix) => `${host}${path}/`.startsWith(prefix));
    const paths = routesOf(document).map(({ name }) => name.replace(/^\w+ /, ''));
    expect(paths.filter((path) => !path.startsWith('/admin/') && !isPublic(path))).toEqual([]);
  });

  it('describes the host, each operation and each response', () => {
    expect(document.servers).toEqual([
      { url: expect.stringMatching(/^https:\/\/[a-z]+\.perkway\.example$/) },
    ]);
    for (const { name, summary, responses } of routesOf(document)) {
      // An imperative: no verb in the third person.
      expect([name, summary]).toEqual([name, expect.stringMatching(/^(?!The |A )[A-Z]\w*[^\Ws] /)]);
      expect([name, Object.keys(responses)]).toEqual([
        name,
        expect.arrayContaining([expect.stringMatching(/^[23]/)]),
      ]);
      for (const [status, { description }] of Object.entries(responses))
        expect([name, status, description]).toEqual([name, status, expect.stringMatching(/\w/)]);
    }
  });

  it('has a valid example of every body', () => {
    const validate = schemaChecker(document);
    const wrong: string[] = [];
    for (const [where, { schema, example, examples }] of valuesOf(document)) {
      const given = examples ? Object.values(examples).map(({ value }) => value) : [example];
      if (/ \w+\/[\w+-]+$/.test(where) && given[0] === undefined) wrong.push(`${where}: no example`);
      for (const value of given)
        if (value !== undefined)
          wrong.push(...validate(schema!, value).map((problem) => `${where}: ${problem}`));
    }
    for (const [where, schema] of allSchemas(document))
      if (schema.example !== undefined)
        wrong.push(...validate(schema, schema.example).map((problem) => `${where}: ${problem}`));
    expect(wrong).toEqual([]);
  });

  it('has examples for required parameters, and none for optional ones, which a docs page would send', () => {
    for (const { name, parameters } of routesOf(document))
      for (const parameter of parameters) {
        const example = parameter.example ?? parameter.examples ?? parameter.schema?.example;
        expect([name, parameter.name, example !== undefined]).toEqual([
          name,
          parameter.name,
          parameter.required,
        ]);
      }
  });

  // For `string | null` the compiler emits Object as the type.
  it('has no object types without members', () => {
    const unknown = [...allSchemas(document)].filter(
      ([, { type, properties, additionalProperties, enum: values }]) =>
        type === 'object' && !properties && additionalProperties === undefined && !values,
    );
    expect(unknown.map(([where]) => where)).toEqual([]);
  });

  it('describes each error in the format of its content type', () => {
    for (const { name, responses } of routesOf(document))
      for (const [status, { content = {} }] of Object.entries(responses)) {
        if (status < '400') continue;
        expect([name, status, Object.keys(content)]).toEqual([
          name,
          status,
          [expect.anything()].concat(Object.keys(content).slice(1)),
        ]);
        for (const [type, { schema, examples }] of Object.entries(content)) {
          const expected: Record<string, Schema> = {
            'application/problem+json': { $ref: '#/components/schemas/Problem' },
            'application/json': { $ref: '#/components/schemas/QueryError' },
            'text/plain': { type: 'string', enum: Object.keys(examples ?? {}) },
            'text/html': { type: 'string' },
          };
          expect([name, status, type, schema]).toEqual([name, status, type, expected[type]]);
        }
      }
    const { Problem } = schemasOf(document);
    if (Problem)
      expect(Problem).toMatchObject({
        required: expect.arrayContaining(['code', 'status', 'title', 'detail', 'requestId']),
        properties: {
          code: { type: 'string', enum: expect.arrayContaining(['VALIDATION_FAILED']) },
          errors: { items: { properties: { field: { type: 'string' }, message: { type: 'string' } } } },
        },
      });
  });

  it('names the scope of every operation that a key may call, but of none of the management', () => {
    for (const route of routesOf(document)) {
      const takesKey = route.security!.some((scheme) => 'apiKey' in scheme);
      const hasScope = takesKey && !route.path.startsWith('/admin');
      const known: unknown[] = hasScope ? [...SCOPES] : [undefined];
      expect({ name: route.name, scope: known.includes(route['x-required-scope']) }).toEqual({
        name: route.name,
        scope: true,
      });
      const expected = Object.entries(OPERATIONS_OF).find(([, ids]) => ids.includes(route.operationId));
      if (expected) expect([route.name, route['x-required-scope']]).toEqual([route.name, expected[0]]);
    }
  });

  it('documents retries and limits where they apply', () => {
    for (const { name, security, responses } of routesOf(document)) {
      expect([name, security]).toEqual([name, expect.any(Array)]);
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        const isCounted = security!.some((scheme) => 'apiKey' in scheme);
        if (isCounted)
          expect([name, status, Object.keys(headers)]).toEqual([name, status, expect.arrayContaining(LIMIT)]);
        expect([name, status, 'Retry-After' in headers]).toEqual([
          name,
          status,
          ['429', '503'].includes(status) || 'Perkway-Limit' in headers,
        ]);
      }
    }
  });
});

/** Operations whose scope must stay, because clients choose the scopes of their keys by them. */
const OPERATIONS_OF: Record<Scope, string[]> = {
  'perks:read': ['listPerkCollections', 'getPerkCollection', 'getPerkOfCollection', 'allocateCouponCode'],
  'journeys:write': ['listCampaigns', 'generateRewardUrl', 'getPixelUrls', 'getTeasers', 'trackJourneyEvent'],
  'links:create': ['generateRewardLink', 'replaceRewardLink'],
  'links:read': ['listRewardLinks', 'listLimits', 'getLimitUsage', 'getStatement', 'getSignedStatement'],
  'links:cancel': ['cancelRewardLink'],
  'pools:read': ['getGiftCardPools', 'getGiftCardPool'],
  'analytics:read': ['issueCubeToken'],
  'events:read': ['listEvents', 'getEvent'],
  'webhooks:write': ['putWebhook', 'listWebhooks', 'listWebhookDeliveries', 'replayWebhook'],
};
const LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

it('documents the texts, flags and locations of perks', async () => {
  const schemas = schemasOf(await documentFromSources('perks'));
  expect(schemas.PutPerk!.properties).toMatchObject({
    metadata: { type: 'string', nullable: true },
    is_coupon_perk: { type: 'boolean', nullable: true },
    media: { allOf: [{ $ref: '#/components/schemas/PutMediaOrNull' }] },
  });
  expect(schemas.PutMediaOrNull).toMatchObject({ type: 'object', nullable: true });
  expect(schemas.PutLocation!.properties).toMatchObject({
    region: { type: 'string' },
    city: { type: 'string' },
  });
  expect(schemas.Perk!.properties).toMatchObject({
    metadata: { type: 'string' },
    is_coupon_perk: { type: 'boolean' },
  });
});

it('documents every parameter of reading a collection', async () => {
  const routes = routesOf(await documentFromSources('perks'));
  const { parameters } = routes.find(({ operationId }) => operationId === 'getPerkCollection')!;
  expect(parameters.map(({ name, in: place }) => `${place} ${name}`).sort()).toEqual([
    'header Accept-Language',
    'header If-None-Match',
    'header X-Disable-View-Tracking',
    'path collectionId',
    'query api_key',
    'query categories',
    'query cmeta_*',
    'query lang',
    'query location_city',
    'query location_country',
    'query location_region',
    'query show_coupon_perks',
    'query utm_campaign',
    'query utm_content',
    'query utm_medium',
    'query utm_source',
    'query utm_term',
  ]);
});

// Inside the repository, so that packages resolve.
const TYPES = join(__dirname, '../../../.cache/openapi/types');
const GENERATOR = join(__dirname, '../../../node_modules/openapi-typescript/bin/cli.js');
const CONSUMER = join(__dirname, '../consumer/consumer.ts');

describe('a client with types generated from the documents', () => {
  beforeAll(async () => {
    rmSync(TYPES, { recursive: true, force: true });
    mkdirSync(TYPES, { recursive: true });
    const apis: Record<string, object> = {};
    for (const app of APPS) {
      writeFileSync(join(TYPES, `${app}.json`), JSON.stringify(await documentFromSources(app)));
      apis[app] = { root: `${app}.json`, 'x-openapi-ts': { output: `${app}.ts` } };
    }
    // One process generates all of them.
    writeFileSync(join(TYPES, 'redocly.yaml'), JSON.stringify({ apis }));
    execFileSync(process.execPath, [GENERATOR], { cwd: TYPES, stdio: 'pipe' });
  });

  it('compiles under strict', async () => {
    const problems = await typeErrors([...APPS.map((app) => join(TYPES, `${app}.ts`)), CONSUMER], {
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      paths: { '@perkway/types/*': [join(TYPES, '*')] },
    });
    expect(problems).toBe('');
  });
});

it('docs/gift-cards.md says what to do about every code that only the gift-card host has', async () => {
  const page = readFileSync(join(__dirname, '../../../docs/gift-cards.md'), 'utf8');
  const codes = routesOf(await documentFromSources('gift-cards'))
    .filter(({ path }) => !path.startsWith('/admin'))
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ content = {} }) => Object.keys(content['text/plain']?.examples ?? {}));
  const everywhere = [
    'API_KEY_INVALID',
    'FORBIDDEN',
    'SCOPE_MISSING',
    'TOO_MANY_REQUESTS',
    'INTERNAL_ERROR',
    'DEPENDENCY_UNAVAILABLE',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
  ];
  const missing = codes.filter((code) => !everywhere.includes(code) && !page.includes(`\`${code}\``));
  expect(codes).toContain('DENOMINATION_INVALID');
  expect([...new Set(missing)]).toEqual([]);
});
