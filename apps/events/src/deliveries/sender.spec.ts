import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createRawServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { selfSignedCertificate } from '@perkway/testing';
import { startDnsServer } from '../../test/dns-server.js';
import { NetworkPolicy } from './network-policy.js';
import { dnsResolver } from './resolver.js';
import { Sender, type SenderOptions } from './sender.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const LOOPBACK = new NetworkPolicy(['127.0.0.0/8', '::1/128']);

const senderOf = (options: Partial<SenderOptions> = {}) => {
  const sender = new Sender({ policy: LOOPBACK, timeoutMs: 20_000, ...options });
  closers.push(() => sender.close());
  return sender;
};
async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
const serve = (listener: RequestListener) => listen(createServer(listener));
const serveRaw = (onData: (socket: Socket) => void) =>
  listen(
    createRawServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => onData(socket));
    }),
  );
const dns = async (addressesOf: Parameters<typeof startDnsServer>[0]) => {
  const server = await startDnsServer(addressesOf);
  closers.push(() => server.close());
  return server;
};
const NOT_HTTP = 'The response is not valid HTTP, or has an unrequested status 100 or 101';
const respondOk = (_request: IncomingMessage, response: ServerResponse) => void response.end('ok');

describe('an attempt', () => {
  it('posts the body with its headers, and reuses the connection', async () => {
    const requests: { method?: string; headers: IncomingMessage['headers']; body: string; port?: number }[] =
      [];
    const port = await serve(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { method, headers, socket } = request;
      requests.push({ method, headers, body, port: socket.remotePort });
      response.writeHead(204).end();
    });
    const sender = senderOf();
    for (const body of ['{"a":"é"}', '{}']) {
      const result = await sender.post(`http://127.0.0.1:${port}/hook?x=1`, { 'webhook-id': 'e1' }, body);
      expect(result).toEqual({ isSuccess: true, status: 204, error: null });
      await setImmediate();
    }
    expect(requests.map(({ body }) => body)).toEqual(['{"a":"é"}', '{}']);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      headers: { 'webhook-id': 'e1', 'content-type': 'application/json', 'content-length': '10' },
    });
    expect(requests[1]!.port).toBe(requests[0]!.port);
  });

  it('does not follow redirects', async () => {
    let followed = 0;
    const port = await serve((request, response) => {
      if (request.url === '/secret') followed++;
      response.writeHead(request.url === '/secret' ? 200 : 307, { location: '/secret' }).end();
    });
    const result = await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toMatchObject({ isSuccess: false, status: 307, error: 'Redirects are not followed' });
    expect(followed).toBe(0);
  });

  it('keeps the first 200 characters of an error as text that Postgres can store', async () => {
    const port = await serve((_request, response) =>
      response.writeHead(500, { 'retry-after': '7' }).end(`a\0b\n${'é'.repeat(300)}`),
    );
    const result = await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toMatchObject({ isSuccess: false, status: 500, retryAfter: '7' });
    expect(result.error).toBe(`a b ${'é'.repeat(196)}`);
  });

  it('takes the first of several values of Retry-After', async () => {
    const port = await serve((_request, response) =>
      response.writeHead(429, ['retry-after', '7', 'retry-after', '9']).end(),
    );
    expect(await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}')).toMatchObject({ retryAfter: '7' });
  });

  it('reads no more than 1 KB of a response that does not end', async () => {
    let written = 0;
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n');
      const chunk = `400\r\n${'x'.repeat(1_024)}\r\n`;
      const write = () => {
        while (!socket.destroyed && socket.write(chunk)) written += 1_024;
      };
      socket.on('drain', write);
      write();
    });
    const result = await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toMatchObject({ status: 500, error: 'x'.repeat(200) });
    expect(written).toBeLessThan(8_000_000);
  });

  it('accepts a success whose body does not end', async () => {
    const port = await serveRaw((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'));
    const result = await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toMatchObject({ isSuccess: true, status: 200 });
  });

  it.each([
    ['says nothing', () => undefined],
    [
      'sends headers one byte at a time',
      (socket: Socket) => void dribble(socket, `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000)}`),
    ],
    [
      'sends only informational responses',
      (socket: Socket) => void dribble(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
    ],
  ])('ends at its deadline when the receiver %s', async (_what, onData) => {
    const port = await serveRaw(onData);
    const started = Date.now();
    const result = await senderOf({ timeoutMs: 300 }).post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toEqual({ isSuccess: false, status: null, error: 'No response within 0.3 s' });
    expect(Date.now() - started).toBeGreaterThanOrEqual(299);
  });

  it.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH\r\n', null],
    ['has headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`, null],
    [
      'switches protocols',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      null,
    ],
  ])('fails when the response %s', async (_what, text) => {
    const port = await serveRaw((socket) => socket.end(text));
    const result = await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toMatchObject({ isSuccess: false, status: null });
  });

  it('fails if nothing listens on the port', async () => {
    const port = await serve(respondOk);
    for (const close of closers.splice(0)) await close();
    const result = await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toEqual({
      isSuccess: false,
      status: null,
      error: 'The connection failed (ECONNREFUSED)',
    });
  });

  it('posts again on a new connection when the receiver closed the idle one', async () => {
    let connections = 0;
    let resets = 0;
    const port = await listen(
      createRawServer((socket) => {
        const isFirst = connections++ === 0;
        let requests = 0;
        socket.on('error', () => undefined);
        socket.on('data', () => {
          if (isFirst && requests++ > 0) return void (resets++, socket.resetAndDestroy());
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
        });
      }),
    );
    const sender = senderOf();
    for (let attempt = 0; attempt < 2; attempt++) {
      const result = await sender.post(`http://127.0.0.1:${port}/`, {}, '{}');
      expect(result).toMatchObject({ isSuccess: true });
      await setImmediate();
    }
    expect(resets).toBe(1);
    expect(connections).toBe(2);
  });

  it.each([
    ['half a status line', 'HTTP/1.1 2', 'The connection was closed without a response'],
    [
      'informational responses only',
      'HTTP/1.1 103 Early\r\n\r\n',
      'The connection was closed without a response',
    ],
    ['a status 101', 'HTTP/1.1 101 No\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', NOT_HTTP],
    ['a status 100', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', NOT_HTTP],
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n', NOT_HTTP],
  ])('posts once to a receiver that sends %s', async (_what, text, error) => {
    let requests = 0;
    const port = await serveRaw((socket) => (requests++, socket.end(text)));
    const result = await senderOf().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(result).toEqual({ isSuccess: false, status: null, error });
    expect(requests).toBe(1);
  });

  it.each(['http', 'https'])('posts once over %s when a new connection is closed', async (scheme) => {
    let requests = 0;
    const listener: RequestListener = (request) => (requests++, request.socket.destroy());
    const { certificate, key } = selfSignedCertificate('localhost');
    const server =
      scheme === 'http' ? createServer(listener) : createTlsServer({ cert: certificate, key }, listener);
    const port = await listen(server);
    const result = await senderOf({ ca: certificate }).post(`${scheme}://localhost:${port}/`, {}, '{}');
    expect(result.error).toBe('The connection was closed without a response');
    expect(requests).toBe(1);
  });

  it('refuses a certificate that it does not trust', async () => {
    const { certificate, key } = selfSignedCertificate('hook.example');
    const port = await listen(createTlsServer({ cert: certificate, key }, respondOk));
    const { address } = await dns(() => ['127.0.0.1']);
    const resolve = dnsResolver([address]);
    const url = `https://hook.example:${port}/`;
    expect(await senderOf({ resolve }).post(url, {}, '{}')).toMatchObject({ isSuccess: false, status: null });
    expect(await senderOf({ resolve, ca: certificate }).post(url, {}, '{}')).toMatchObject({ status: 200 });
    const otherName = await senderOf({ resolve, ca: certificate }).post(
      `https://x.example:${port}/`,
      {},
      '{}',
    );
    expect(otherName).toMatchObject({ isSuccess: false, status: null });
  });
});

describe('the address of a connection', () => {
  const CLOSED = new NetworkPolicy([]);
  let hits = 0;
  let port = 0;
  beforeEach(async () => {
    hits = 0;
    port = await listen(
      createRawServer((socket) => (hits++, socket.destroy())),
      '::',
    );
  });

  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    'localhost',
    'a.localhost',
  ])('may not be %s', async (host) => {
    const result = await senderOf({ policy: CLOSED }).post(`https://${host}:${port}/`, {}, '{}');
    expect(result).toMatchObject({ isSuccess: false, status: null });
    expect(result.error).toMatch(/^The URL must not lead to a private/);
    expect(hits).toBe(0);
  });

  it.each([
    [['127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['2606:2800:220:1::1', '::1']],
    [['93.184.216.34', '::1']],
    [['0.0.0.0']],
    [['64:ff9b::7f00:1']],
  ])('may not be one of %j from DNS', async (addresses) => {
    const { address } = await dns(() => addresses);
    const sender = senderOf({ policy: CLOSED, resolve: dnsResolver([address]) });
    const result = await sender.post(`https://rebound.example:${port}/`, {}, '{}');
    expect(result.error).toMatch(/^The URL must not lead to a private/);
    expect(hits).toBe(0);
  });

  it('is the one that was checked, however DNS responses change', async () => {
    const open = new NetworkPolicy(['127.0.0.1']);
    const ok = await serve(respondOk);
    // Permitted and forbidden in turn: a second lookup after the check would connect to the forbidden one.
    const { address } = await dns((_name, question) => [question % 2 === 0 ? '127.0.0.1' : '127.0.0.2']);
    const errors = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const sender = senderOf({ policy: open, resolve: dnsResolver([address]) });
      errors.push((await sender.post(`http://rebound.example:${ok}/`, {}, '{}')).error);
    }
    const refused = expect.stringMatching(/^The URL must not lead to a private/);
    expect(errors).toEqual([null, refused, null, refused, null, refused]);
  });

  it('is looked up once per connection', async () => {
    const ok = await serve(respondOk);
    const { address, questions } = await dns(() => ['127.0.0.1']);
    const sender = senderOf({ resolve: dnsResolver([address]) });
    expect(await sender.post(`http://hook.example:${ok}/`, {}, '{}')).toMatchObject({ isSuccess: true });
    expect(questions.get('hook.example 1')).toBe(1);
  });

  it('is not reached over http unless its network is allowed', async () => {
    const { address } = await dns(() => ['93.184.216.34']);
    const sender = senderOf({ policy: LOOPBACK, resolve: dnsResolver([address]) });
    const result = await sender.post(`http://public.example:${port}/`, {}, '{}');
    expect(result.error).toBe('The URL must be an absolute https URL');
  });

  it('causes an error if DNS has none', async () => {
    const { address } = await dns(() => []);
    const sender = senderOf({ resolve: dnsResolver([address]) });
    const result = await sender.post('https://unknown.example/', {}, '{}');
    expect(result.error).toBe('The host name does not resolve (ENOTFOUND)');
  });

  it('is not waited for past the deadline', async () => {
    const sender = senderOf({ resolve: () => new Promise(() => undefined), timeoutMs: 300 });
    const result = await sender.post('https://silent.example/', {}, '{}');
    expect(result.error).toBe('No response within 0.3 s');
  });
});

/** Sends the text again and again, one byte every 10 ms. */
async function dribble(socket: Socket, text: string): Promise<void> {
  for (let at = 0; !socket.destroyed; at++) {
    socket.write(text[at % text.length]!);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
