import pg from 'pg';
import { dataSourceOptions } from './data-source.js';
import { ResilientClient } from './resilient-client.js';

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
});
