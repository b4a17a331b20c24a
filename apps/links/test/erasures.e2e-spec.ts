import { ERASE, type Erasure } from '@perkway/domain';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  anAccountId,
  rpcCaller,
  closeAll,
  launchApp,
  testDatabase,
  testEnvironment,
  testNats,
  waitFor,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

it('removes a customer of one account from waiting events, and keeps the same id in another account', async () => {
  const open: { close(): Promise<unknown> }[] = [];
  try {
    const [database, nats] = await Promise.all([
      testDatabase('links', (url) => runMigrations(url, 'links', migrations)),
      testNats(),
    ]);
    open.push(database, nats);
    const [account, other] = [anAccountId(), anAccountId()];
    const events = [account, other].map((of) => ({ id: of, account: of, cmeta: { customer_id: 'ann' } }));
    await database.query('insert into tracking_outbox (event) select unnest($1::text[])', [
      events.map((event) => JSON.stringify(event)),
    ]);
    // There is no stream, so the events stay in the outbox.
    open.push(await launchApp(defineApp(loadEnv(envSpec, testEnvironment('links', { database, nats })))));
    const operator = await rpcCaller(nats.url);
    open.push(operator);
    const erasure: Erasure = {
      ...{ id: randomUUID(), round: 1, account, kind: 'customer_id', value: 'ann' },
      ...{ standIn: 'erased-x', secret: 'aa' },
    };
    // The app subscribes in the background.
    await waitFor(
      async () => expect(await operator.rpc.request(ERASE['links'], erasure)).toEqual({ isDone: true }),
      'the erasure',
    );
    const rows = await database.query<{ event: string }>('select event from tracking_outbox order by seq');
    expect(rows.map(({ event }) => JSON.parse(event))).toEqual([{ id: account, account }, events[1]]);
  } finally {
    await closeAll(...open.reverse());
  }
});
