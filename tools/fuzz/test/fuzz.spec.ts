import fc from 'fast-check';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { operationsOf } from '../src/document';
import { readResponse } from '../src/exchange';
import { fuzzApp } from '../src/fuzz-app';
import { requestsFor, type Target } from '../src/requests';

const DOCUMENT = {
  paths: {
    '/things/{thingId}': {
      post: {
        operationId: 'putThing',
        security: [{ apiKey: [] }],
        parameters: [
          { name: 'thingId', in: 'path' as const, required: true, schema: { type: 'string' } },
          { name: 'size', in: 'query' as const, schema: { type: 'integer', minimum: 1 } },
        ],
        requestBody: {
          content: {
            'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } },
          },
        },
        responses: {
          200: { content: { 'application/json': {} } },
          400: { content: { 'application/problem+json': {} } },
        },
      },
    },
  },
};
const target: Target = {
  operations: operationsOf(DOCUMENT),
  schemas: {},
  known: new Map(),
  expendable: new Map([['thingId', ['known-thing']]]),
  credentials: [[['x-api-key', 'secret']], []],
  origin: 'http://host',
};

const PROBLEM = {
  type: '/errors#VALIDATION_FAILED',
  title: 'Wrong',
  status: 400,
  detail: 'Wrong',
  code: 'VALIDATION_FAILED',
  requestId: 'r',
};
const refuse = (response: Parameters<RequestListener>[1], problem: object = PROBLEM) =>
  response.writeHead(400, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));

/** Responds as documented unless `fault` responds instead. */
const listener =
  (
    fault: (url: string, body: string, response: Parameters<RequestListener>[1]) => boolean,
  ): RequestListener =>
  (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('error', () => undefined);
    request.on('end', () => {
      response.setHeader('x-request-id', 'r');
      if (fault(request.url!, body, response)) return;
      if (request.url!.includes('%')) refuse(response);
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  };

let server: Server;
const fuzzed = async (fault: Parameters<typeof listener>[0], requests = 400, deadlineMs = 5_000) => {
  server = createServer({ requireHostHeader: false }, listener(fault));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Invalid HTTP is not tested here.
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { findings, sent, statuses } = await fuzzApp('perks', url, target, {
    requests,
    seed: 7,
    concurrency: 2,
    deadlineMs,
  });
  return { sent, statuses, findings, faults: findings.map(({ what }) => what) };
};
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it('finds nothing if all responses are as documented', async () => {
  const { faults, sent, statuses } = await fuzzed(() => false);
  expect(faults).toEqual([]);
  expect(sent).toBe(400);
  expect(statuses.get(2)).toBeGreaterThan(100);
  expect(statuses.get(4)).toBeGreaterThan(10);
});

it('finds a fault caused by one name in a body, and shows the smallest request', async () => {
  const { faults, findings } = await fuzzed((_url, body, response) => {
    if (!body.includes('__proto__')) return false;
    response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>');
    return true;
  });
  expect(faults.join('\n')).toContain(': status 500');
  const { request, times } = findings.find(({ what }) => what.endsWith('status 500'))!;
  expect(request.bytes.toString()).toContain('__proto__');
  expect(request.bytes.length).toBeLessThan(400);
  expect(times).toBeGreaterThan(0);
});

it.each<[string, Parameters<typeof listener>[0], string]>([
  [
    'an undocumented status',
    (url, _body, response) => url.includes('size=') && Boolean(response.writeHead(418).end()),
    '418',
  ],
  [
    'an error in another format',
    (url, _body, response) =>
      url.includes('%') && Boolean(response.writeHead(400, { 'content-type': 'text/html' }).end('no')),
    '400: the content type is text/html',
  ],
  [
    'an error with an unknown code',
    (url, _body, response) => url.includes('%') && Boolean(refuse(response, { ...PROBLEM, code: 'NO' })),
    'the problem has an unknown code',
  ],
  [
    'revealed internals',
    (url, _body, response) =>
      url.includes('%') && Boolean(refuse(response, { ...PROBLEM, detail: 'syntax error at or near "x"' })),
    'it reveals internals',
  ],
])('finds %s', async (_, fault, expected) => {
  expect((await fuzzed(fault)).faults.join('\n')).toContain(expected);
});

it('finds a request without a response', async () => {
  const { faults } = await fuzzed((url) => url.includes('size='), 10, 50);
  expect(faults.join('\n')).toContain('no response in time');
});

it('sends the same requests for the same seed, and others for another', () => {
  const sample = (seed: number) =>
    fc.sample(requestsFor(target), { seed, numRuns: 50 }).map(({ bytes }) => bytes.toString('latin1'));
  expect(sample(3)).toEqual(sample(3));
  expect(sample(4)).not.toEqual(sample(3));
});

it.each([
  ['gzip', gzipSync('<!doctype html>')],
  ['br', brotliCompressSync('<!doctype html>')],
])('reads a response with encoding %s', (encoding, body) => {
  const head = `HTTP/1.1 404 Not Found\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`;
  const reply = readResponse(Buffer.concat([Buffer.from(head), body]), false, false);
  expect(reply!.body.toString()).toBe('<!doctype html>');
});
