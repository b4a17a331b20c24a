import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { dataSourceOptions } from './data-source.js';
import { ResilientClient } from './resilient-client.js';

/** "Authentication succeeded" and "ready for a query" in the protocol of Postgres. */
const READY = Buffer.from('520000000800000000' + '5a0000000549', 'hex');
/** Long enough that further connections would arrive meanwhile. */
const RESPONSE_MS = 10;

describe('ResilientClient', () => {
  it('handles the error of a connection without listeners', () => {
    const error = new Error('terminating connection');
    expect(() => new pg.Client().emit('error', error)).toThrow('terminating connection');
    expect(() => new ResilientClient().emit('error', error)).not.toThrow();
  });

  it("is the connection class of an app's pool", async () => {
    const { extra } = dataSourceOptions('postgres://nobody@127.0.0.1:9/none', 'test', 1);
    const pool = new pg.Pool({ host: '127.0.0.1', port: 9, ...(extra as pg.PoolConfig) });
    expect((pool as unknown as { Client: unknown }).Client).toBe(ResilientClient);
    await pool.end();
  });

  describe('in a pool', () => {
    let server: Server;
    let pool: pg.Pool;
    /** Connections that wait for the server's response. */
    let waiting: Socket[];
    let peak: number;
    let isResponding: boolean;

    beforeEach(async () => {
      waiting = [];
      peak = 0;
      isResponding = true;
      server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          peak = Math.max(peak, waiting.push(socket));
          if (isResponding) setTimeout(() => waiting.shift()!.write(READY), RESPONSE_MS);
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    const makePool = (connectionTimeoutMillis: number) => {
      const { port } = server.address() as AddressInfo;
      const config = { host: '127.0.0.1', port, user: 'nobody', max: 10, connectionTimeoutMillis };
      pool = new pg.Pool({ Client: ResilientClient, ...config } as pg.PoolConfig);
      pool.on('error', () => undefined);
    };
    afterEach(async () => {
      await pool.end();
      server.close();
    });
    const connectAll = () =>
      Promise.allSettled(
        Array.from({ length: 10 }, () => pool.connect().then((client) => client.release(true))),
      );

    it('opens one connection at a time', async () => {
      makePool(30_000);
      for (const { status } of await connectAll()) expect(status).toBe('fulfilled');
      expect(peak).toBe(1);
    });

    it('opens connections again after attempts that had no response', async () => {
      isResponding = false;
      makePool(300);
      for (const attempt of await connectAll())
        expect(attempt).toMatchObject({
          reason: { message: 'Connection terminated due to connection timeout' },
        });
      [isResponding, waiting] = [true, []];
      await pool.end();
      makePool(30_000);
      for (const { status } of await connectAll()) expect(status).toBe('fulfilled');
    });
  });
});
