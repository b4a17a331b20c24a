import pg from 'pg';
import { dataSourceOptions } from './data-source.js';
import { SteadyClient } from './steady-client.js';

describe('SteadyClient', () => {
  test('hears the error of a connection that nobody listens to', () => {
    const error = new Error('terminating connection');
    expect(() => new pg.Client().emit('error', error)).toThrow('terminating connection');
    expect(() => new SteadyClient().emit('error', error)).not.toThrow();
  });

  test('is what the pool of an app makes its connections of', async () => {
    const { extra } = dataSourceOptions('postgres://nobody@127.0.0.1:9/none', 'test', 1);
    const pool = new pg.Pool({ host: '127.0.0.1', port: 9, ...(extra as pg.PoolConfig) });
    expect((pool as unknown as { Client: unknown }).Client).toBe(SteadyClient);
    await pool.end();
  });
});
