import { Controller, Get, Module, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Registry } from 'prom-client';
import { loadEnv, platformEnv } from '../config/load-env.js';
import { createApp } from '../create-app.js';
import { createLogger } from '../logging/logger.js';
import type { ConnectionLimits } from './connections.js';

/** More than the system buffers for a reader. */
const LARGE = 24 * 1024 ** 2;

@Controller()
class ResponsesController {
  @Get('large')
  large(@Res() reply: FastifyReply) {
    void reply.type('text/plain').send(Buffer.alloc(LARGE, 'x'));
  }

  @Get('streamed')
  streamed(@Res() reply: FastifyReply) {
    const piece = Buffer.alloc(64 * 1024, 'x');
    let left = LARGE / piece.length;
    void reply.type('text/plain').send(
      new Readable({
        read() {
          this.push((left -= 1) >= 0 ? piece : null);
        },
      }),
    );
  }

  @Get('slow')
  slow() {
    return new Promise((resolve) => setTimeout(() => resolve({ done: true }), 1_500));
  }
}
@Module({ controllers: [ResponsesController] })
class ResponsesModule {}

describe('connections', () => {
  const apps: NestFastifyApplication[] = [];
  const sockets: Socket[] = [];
  let app: NestFastifyApplication;

  const launch = async (connections: Partial<ConnectionLimits>) => {
    app = await createApp({
      name: 'probe',
      module: ResponsesModule,
      env: loadEnv(platformEnv, { PORT: '1', NATS_URL: 'nats://127.0.0.1:1' }),
      logger: createLogger('probe', 'silent'),
      connections,
    });
    await app.listen(0, '127.0.0.1');
    apps.push(app);
  };
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const each of apps.splice(0)) await each.close();
  });

  const open = async (text = '') => {
    const { port } = app.getHttpServer().address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  const sendRequest = (path: string) => open(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  const count = () =>
    new Promise<number>((resolve) =>
      app.getHttpServer().getConnections((_: unknown, open: number) => resolve(open)),
    );
  const until = async (holds: () => Promise<boolean> | boolean) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  /** @returns how many bytes had arrived when the connection ended or `enough` was reached */
  const read = async (socket: Socket, enough = Infinity) => {
    let bytes = 0;
    for await (const chunk of socket) if ((bytes += (chunk as Buffer).length) >= enough) break;
    return bytes;
  };
  const cutFor = async (reason: string) => {
    const metric = await app.get(Registry).getSingleMetric('http_connections_cut_total')!.get();
    return metric.values.find(({ labels }) => labels.reason === reason)!.value;
  };

  it('close if no complete request head arrives', async () => {
    await launch({ headWithinMs: 200 });
    const silent = await open();
    const dribbling = await open('GET /slow HTTP/1.1\r\nhost: x\r\nx-one: 1\r\n');
    const busy = await sendRequest('/slow');
    const [, said] = await Promise.all([
      read(silent),
      (async () => {
        let response = '';
        for await (const text of dribbling.setEncoding('latin1')) response += String(text);
        return response;
      })(),
    ]);
    expect(said).toMatch(/^HTTP\/1.1 400 [^]*did not arrive in time/);
    // A connection that waits for a response is not idle.
    expect(await read(busy, 20)).toBeGreaterThanOrEqual(20);
  });

  it.each(['/large', '/streamed'])('close if the response is not read (%s)', async (path) => {
    await launch({ unreadForMs: 100, minBytesPerSecond: Infinity });
    await sendRequest(path);
    await until(async () => (await count()) === 1);
    await until(async () => (await count()) === 0);
    expect(await cutFor('unread')).toBe(1);
  });

  it('stay open if the response is read, and if the handler is slow', async () => {
    await launch({ unreadForMs: 10_000, minBytesPerSecond: Infinity });
    const [large, streamed, slow] = await Promise.all([
      sendRequest('/large'),
      sendRequest('/streamed'),
      sendRequest('/slow'),
    ]);
    expect(await read(large!, LARGE)).toBeGreaterThanOrEqual(LARGE);
    expect(await read(streamed!, LARGE)).toBeGreaterThanOrEqual(LARGE);
    expect(await read(slow!, 20)).toBeGreaterThanOrEqual(20);
    expect(await cutFor('unread')).toBe(0);
  });

  it('limit the bytes of unread responses: the longest-waiting connection is closed', async () => {
    await launch({ unreadBytes: 1.5 * LARGE });
    const first = await sendRequest('/large');
    await once(first, 'readable');
    await new Promise((resolve) => setTimeout(resolve, 600));
    const second = await sendRequest('/large');
    await until(async () => (await cutFor('unread')) === 1);
    expect(await read(second, LARGE)).toBeGreaterThanOrEqual(LARGE);
    expect(await read(first).catch(() => 0)).toBeLessThan(LARGE);
  });

  it('stay open if a single-chunk response is read slowly while others exceed the limit', async () => {
    // One response fits, two do not. Even if the slow reader pauses, it is enough to close the first connection.
    await launch({ unreadBytes: 1.5 * LARGE });
    const unread = await sendRequest('/large');
    const slow = await sendRequest('/large');
    let bytes = 0;
    for await (const chunk of slow) {
      const { length } = chunk as Buffer;
      // At 20 MB per second, reading spans several checks of the server.
      await new Promise((resolve) => setTimeout(resolve, length / 20_000));
      if ((bytes += length) >= LARGE) break;
    }
    expect(bytes).toBeGreaterThanOrEqual(LARGE);
    await until(async () => (await cutFor('unread')) === 1);
    expect(await read(unread).catch(() => 0)).toBeLessThan(LARGE);
  });

  it('make room for new ones by closing idle ones when the process is full', async () => {
    await launch({ maxConnections: 10 });
    const idle = await Promise.all(Array.from({ length: 5 }, () => sendRequest('/livez')));
    for (const socket of idle) await once(socket, 'data');
    await Promise.all(Array.from({ length: 5 }, () => open()));
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    // This connection is rejected, but closes the idle ones.
    await open().then((late) => once(late.resume(), 'close'));
    await until(async () => (await count()) === 0);
    expect(await read(await sendRequest('/livez'), 20)).toBeGreaterThanOrEqual(20);
    expect(await cutFor('room')).toBe(1);
  });
});
