import { ERASE } from '@perkway/domain';
import { runMigrations, type MigrationClass } from '@perkway/platform';
import { anErasure } from './an-erasure.js';
import { closeAll } from './close-all.js';
import { anAccountId } from './fake-accounts.js';
import type { LaunchedApp } from './launch-app.js';
import { rpcCaller } from './rpc-caller.js';
import { testDatabase } from './test-database.js';
import type { TestEnvironment } from './test-environment.js';
import { testNats } from './test-nats.js';
import { waitFor } from './wait-for.js';

/**
 * Checks that an erasure removes a customer from the events in the app's outbox, and leaves those of another account
 * unchanged.
 */
export async function checkErasureInOutbox(
  app: 'boost' | 'links',
  migrations: MigrationClass[],
  launch: (given: TestEnvironment) => Promise<LaunchedApp>,
): Promise<void> {
  const open: { close(): Promise<unknown> }[] = [];
  try {
    const [database, nats] = await Promise.all([
      testDatabase(app, (url) => runMigrations(url, app, migrations)),
      testNats(),
    ]);
    open.push(database, nats);
    const [account, other] = [anAccountId(), anAccountId()];
    const events = [account, other].map((of) => ({ id: of, account: of, cmeta: { customer_id: 'ann' } }));
    await database.query('insert into tracking_outbox (event) select unnest($1::text[])', [
      events.map((event) => JSON.stringify(event)),
    ]);
    // There is no stream, so the events stay in the outbox.
    open.push(await launch({ database, nats }));
    const operator = await rpcCaller(nats.url);
    open.push(operator);
    const erasure = anErasure({ account });
    // The app subscribes in the background.
    await waitFor(
      async () => expect(await operator.rpc.request(ERASE[app], erasure)).toEqual({ isDone: true }),
      'the erasure',
    );
    const rows = await database.query<{ event: string }>('select event from tracking_outbox order by seq');
    expect(rows.map(({ event }) => JSON.parse(event))).toEqual([{ id: account, account }, events[1]]);
  } finally {
    await closeAll(...open.reverse());
  }
}
