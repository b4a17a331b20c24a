import { BundledApp, testEnvironment, waitFor, type AppProcess } from '@perkway/testing';
import { anEvent, storeEvents } from './stored-events.js';
import { WebhooksWorld } from './webhooks-world.js';

describe('a replica that is killed', () => {
  const world = new WebhooksWorld();
  let bundle: BundledApp;
  const replicas: AppProcess[] = [];
  beforeAll(async () => {
    [bundle] = await Promise.all([BundledApp.build('events'), world.start()]);
    await world.events.close();
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
    await world.stop();
  });

  const spawn = async () => {
    const environment = testEnvironment('events', { database: world.database, nats: world.nats });
    const replica = await bundle.spawn(environment);
    replicas.push(replica);
    return replica.ready();
  };

  it('loses no delivery', async () => {
    const key = world.key();
    let isHanging = true;
    const receiver = await world.receiver((response) => {
      if (!isHanging) response.writeHead(204).end();
    });
    const first = await spawn();
    world.events = { ...world.events, url: first.url, close: async () => undefined };
    await world.put(key, 'a', { url: receiver.url });
    const events = Array.from({ length: 40 }, () => anEvent());
    await storeEvents(world.database, key.account, ...events);
    await waitFor(() => receiver.received.length > 0, 'the first attempts');
    await first.kill('SIGKILL');
    isHanging = false;
    // Ends the leases of the killed replica, which would take 30 s.
    const leased = await world.database.query(
      `update deliveries set lease_until = lease_until - interval '30 seconds' where lease_until > now() returning id`,
    );
    expect(leased.length).toBeGreaterThan(0);
    await spawn();
    await waitFor(async () => {
      const done = await world.database.query(`select from deliveries where state = 'delivered'`);
      expect(done).toHaveLength(events.length);
    }, 'all deliveries');
    expect(new Set(receiver.ids())).toEqual(new Set(events.map(({ id }) => id)));
  });
});
