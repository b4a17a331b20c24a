import { jetstream, type Consumer } from '@nats-io/jetstream';
import { TRACKING_CONSUMER, TRACKING_STREAM } from '@perkway/domain';
import { closeAll, connectTo, waitFor } from '@perkway/testing';
import pg from 'pg';
import { Analytics, anAccountId, analyticsStack, click, launchAnalytics, tokenFor } from './support.js';

const EVENTS = 60;

it('hands back the events that it could not store when it stops, so that the next app stores them at once', async () => {
  const stack = await analyticsStack();
  const connection = await connectTo(stack.nats.url);
  const holder = new pg.Client(stack.database.urls.admin);
  await holder.connect();
  const { consumers } = jetstream(connection);
  let consumer!: Consumer;
  // The app creates it after its start.
  await waitFor(
    async () => void (consumer = await consumers.get(TRACKING_STREAM, TRACKING_CONSUMER)),
    'the consumer',
  );
  const account = anAccountId();
  let next: Awaited<ReturnType<typeof launchAnalytics>> | undefined;
  try {
    // The app stores its first event only after it has created the partitions.
    await stack.publisher.events(click(account));
    await waitFor(
      async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1),
      'the first event',
    );
    await holder.query('begin; lock table analytics.tracking_events in share row exclusive mode');
    await Promise.all(Array.from({ length: EVENTS }, () => stack.publisher.events(click(account))));
    await waitFor(async () => expect((await consumer.info()).num_pending).toBe(0), 'the fetch of all events');
    await waitFor(async () => {
      const waiting = await stack.database.query(
        `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%tracking_events (%'`,
      );
      expect(waiting).not.toHaveLength(0);
    }, 'the statement that stores events');
    let isClosed = false;
    const closed = stack.app.close().finally(() => (isClosed = true));
    // Ends the statements that wait for the lock.
    await waitFor(async () => {
      await stack.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return isClosed;
    }, 'the end of the app');
    await closed;
    await holder.query('rollback');

    // Without a negative acknowledgement, the broker redelivers messages only after the acknowledgement time.
    const messages = await consumer.fetch({ max_messages: EVENTS, expires: 2_000 });
    let received = 0;
    for await (const message of messages) {
      message.nak();
      received += 1;
    }
    expect(received).toBe(EVENTS);
    next = await launchAnalytics(stack.database, stack.nats);
    const analytics = new Analytics(next.url, tokenFor(account, stack.key));
    await waitFor(
      async () => expect(await analytics.count('perk_clicks.count')).toBe(1 + EVENTS),
      'all events',
    );
  } finally {
    await closeAll({ close: () => holder.end() }, connection, next, stack);
  }
});
