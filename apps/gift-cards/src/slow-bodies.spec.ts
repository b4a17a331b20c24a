import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { allowSlowBody, limitSlowBodies } from './slow-bodies.js';

describe('a body that does not come', () => {
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

  /** Sends a head and half of its body, then waits. Answers whether the server hung up. */
  const isCutOff = async (path: string, rest?: string) => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (text) => (answer += String(text)));
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${path === '/other' ? 'application/json' : 'text/csv'}\r\ncontent-length: 4\r\n\r\n"a`,
    );
    if (rest) setTimeout(() => socket.write(rest), 50);
    const cut = await Promise.race([
      once(socket, 'close').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 500)),
    ]);
    socket.destroy();
    return { cut, answer };
  };

  it('ends the connection, unless the handler allows it', async () => {
    expect((await isCutOff('/other')).cut).toBe(true);
    expect((await isCutOff('/load')).cut).toBe(false);
  });

  it('ends the connection after a refusal too', async () => {
    const { cut, answer } = await isCutOff('/refused');
    expect(answer).toContain('401');
    expect(cut).toBe(true);
  });

  it('ends nothing when it does come', async () => {
    const { cut, answer } = await isCutOff('/other', 'b"');
    expect(cut).toBe(false);
    expect(answer).toContain('200 OK');
  });
});
