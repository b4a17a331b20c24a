import { testNats, type LaunchedApp, type TestDatabase, type TestNats } from '@perkway/testing';
import { client, launchTokenIssuer, tokenIssuerDatabase } from './launch';

interface Operation {
  operationId: string;
  security?: object[];
  parameters?: { name: string; example?: unknown; schema?: object }[];
  requestBody?: Body;
  responses: Record<string, Body & { description: string }>;
}
interface Body {
  content?: Record<string, { example?: unknown; examples?: object }>;
}

describe('the OpenAPI document of token-issuer', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  const operations = new Map<string, Operation>();

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats });
    const { body } = await client(issuer.url).anonymous('get', '/docs-json').expect(200);
    for (const [path, methods] of Object.entries<Record<string, Operation>>(body.paths))
      for (const [method, operation] of Object.entries(methods))
        operations.set(`${method.toUpperCase()} ${path}`, operation);
  });
  afterAll(async () => {
    await issuer?.close();
    await Promise.all([database?.close(), nats?.close()]);
  });

  it('names every operation, and nothing else', () => {
    expect(
      Object.fromEntries([...operations].map(([route, { operationId }]) => [route, operationId])),
    ).toEqual({
      'GET /cube/token': 'issueCubeToken',
      'GET /.well-known/jwks.json': 'getAnalyticsJwks',
      'PUT /admin/accounts/{accountId}': 'putAccount',
      'POST /admin/accounts/{accountId}/keys': 'createApiKey',
      'GET /admin/accounts/{accountId}/keys': 'listApiKeys',
      'DELETE /admin/accounts/{accountId}/keys/{keyId}': 'revokeApiKey',
    });
  });

  it('asks for a key everywhere but at the public keys', () => {
    for (const [route, { security }] of operations)
      expect([route, security]).toEqual([
        route,
        route === 'GET /.well-known/jwks.json' ? undefined : [{ apiKey: [] }],
      ]);
  });

  it('shows an example of every body and every error', () => {
    for (const [route, { requestBody, responses }] of operations)
      for (const [status, body] of Object.entries({ body: requestBody, ...responses })) {
        if (!body || status === '204') continue;
        const contents = Object.values(body.content ?? {});
        expect([route, status, contents.length]).toEqual([route, status, 1]);
        for (const { example, examples } of contents)
          expect([route, status, example ?? examples]).not.toEqual([route, status, undefined]);
      }
  });

  it('shows answers as they are', async () => {
    const { example } = operations.get('GET /cube/token')!.responses['200']!.content!['application/json']!;
    expect(example).toEqual({
      token: expect.stringMatching(/^eyJ/),
      expiration: expect.any(Number),
      serverTime: { timestamp: expect.any(String), epoch_timestamp: expect.any(Number) },
    });
    const { expiration, serverTime } = example as {
      expiration: number;
      serverTime: { epoch_timestamp: number };
    };
    expect(expiration).toBe((serverTime.epoch_timestamp + 300) * 1000);
    const created = operations.get('POST /admin/accounts/{accountId}/keys')!.responses['201']!;
    expect(Object.keys(created.content!['application/json']!.example as object).sort()).toEqual([
      'created_at',
      'id',
      'key',
      'name',
      'role',
    ]);
  });
});
