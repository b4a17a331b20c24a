import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { allowSlowBody, limitSlowBodies } from './slow-bodies.js';

/** Timeout for events that must happen, also on a busy machine. */
const LONG_MS = 10_000;

describe('slow request bodies', () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    app = fastify();
    limitSlowBodies(app, 150);
    app.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
    app.post('/other', async ({ body }) => body);
    app.post('/load', async (request) => {
      allowSlowBody(request);
      for await (const _ of request.raw);
    });
    app.post('/refused', (_request, reply) => reply.code(401).send());
    app.get('/other', async () => 'ok');
    await app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => app.close());

  /** Sends the head and half of the body, and the rest if given, then waits. Returns whether the server closed the connection in time. */
  const isCutOff = async (path: string, withinMs = 500, rest = '') => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    let response = '';
    socket.on('data', (text) => (response += String(text)));
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${path === '/other' ? 'application/json' : 'text/csv'}\r\ncontent-length: 4\r\n\r\n"a${rest}`,
    );
    const cut = await Promise.race([
      once(socket, 'close').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), withinMs)),
    ]);
    socket.destroy();
    return { cut, response };
  };

  it('closes the connection unless the handler allows slow bodies', async () => {
    expect((await isCutOff('/other', LONG_MS)).cut).toBe(true);
    expect((await isCutOff('/load')).cut).toBe(false);
  });

  it('closes the connection after an error response, too', async () => {
    const { cut, response } = await isCutOff('/refused', LONG_MS);
    expect(response).toContain('401');
    expect(cut).toBe(true);
  });

  it('keeps the connection open once the body has arrived', async () => {
    const { cut, response } = await isCutOff('/other', undefined, 'b"');
    expect(cut).toBe(false);
    expect(response).toContain('200 OK');
  });
});
