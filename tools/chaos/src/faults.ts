import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, JetStreamApiError, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { APPS } from '@perkway/fleet';
import { withBroker } from '@perkway/local-servers';
import { pick, type Replica, type TestFleet } from '@perkway/test-fleet';

export interface Fault {
  name: string;
  /** Causes the fault and, after a while, repairs it as operators or Kubernetes would. */
  run: (fleet: TestFleet, random: () => number) => Promise<void>;
}

export interface Durations {
  /** How long a process stays dead or stopped. */
  holdMs: number;
  allBrokersAwayMs: number;
}

/** About as long as Kubernetes takes to restart a container. */
const RESTART_AFTER_MS = 1_000;
const FILLER = 'FILLER';
const FILLER_BYTES = 256 * 1024;

const anyReplica = (fleet: TestFleet, random: () => number): Replica =>
  pick(fleet.replicas[pick(APPS, random)], random);

/** Fills the brokers' storage until they refuse messages. */
async function fillBrokers(fleet: TestFleet): Promise<void> {
  await withBroker(fleet.brokerUrl, async (connection) => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({
      name: FILLER,
      subjects: ['filler'],
      storage: StorageType.File,
      num_replicas: 3,
    });
    const publisher = jetstream(connection, { timeout: 5_000 });
    const message = new Uint8Array(FILLER_BYTES);
    for (;;)
      try {
        await publisher.publish('filler', message, { retries: 0 });
      } catch {
        return;
      }
  });
}

async function emptyBrokers(fleet: TestFleet): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      return await withBroker(fleet.brokerUrl, async (connection) => {
        await (await jetstreamManager(connection)).streams.delete(FILLER);
      });
    } catch (error) {
      // The stream was deleted, but the response was late.
      if (error instanceof JetStreamApiError && error.status === 404) return;
      if (tries === 20) throw error;
      await sleep(500);
    }
}

/** All faults. The caller decides their order. */
export function faults({ holdMs, allBrokersAwayMs }: Durations): Fault[] {
  return [
    ...APPS.map((app): Fault => ({
      name: `kill -9 of ${app}`,
      run: async (fleet, random) => {
        const replica = pick(fleet.replicas[app], random);
        replica.signal('SIGKILL');
        await replica.process.exited;
        await sleep(RESTART_AFTER_MS);
        await fleet.restart(replica);
      },
    })),
    {
      name: 'kill -9 of the stream’s leader',
      run: async (fleet) => {
        const leader = await fleet.streamLeader;
        await leader.kill();
        await sleep(holdMs);
        await leader.start();
      },
    },
    {
      name: `all brokers down for ${allBrokersAwayMs / 1_000} s`,
      run: async (fleet) => {
        const brokers = [...fleet.brokers.servers.values()];
        await Promise.all(brokers.map((broker) => broker.kill()));
        await sleep(allBrokersAwayMs);
        await Promise.all(brokers.map((broker) => broker.start()));
      },
    },
    {
      name: 'kill -9 of Postgres, failover',
      run: async ({ postgres }) => {
        await postgres.primary.kill();
        await postgres.failOver();
        await sleep(holdMs);
        await postgres.rejoin();
      },
    },
    {
      name: 'Postgres paused, failover, old primary back',
      run: async ({ postgres }) => {
        const old = postgres.primary;
        old.pause();
        await sleep(RESTART_AFTER_MS);
        await postgres.failOver();
        old.resume();
        await sleep(holdMs);
        await postgres.rejoin();
      },
    },
    {
      name: 'Postgres paused',
      run: async ({ postgres }) => {
        postgres.primary.pause();
        await sleep(holdMs);
        postgres.primary.resume();
      },
    },
    {
      name: 'the stream’s leader paused',
      run: async (fleet) => {
        const leader = await fleet.streamLeader;
        leader.pause();
        await sleep(holdMs);
        leader.resume();
      },
    },
    {
      name: 'app processes paused',
      run: async (fleet, random) => {
        const stopped = new Set([
          anyReplica(fleet, random),
          anyReplica(fleet, random),
          anyReplica(fleet, random),
        ]);
        for (const replica of stopped) replica.signal('SIGSTOP');
        await sleep(holdMs);
        for (const replica of stopped) replica.signal('SIGCONT');
      },
    },
    {
      name: 'rolling update of every app',
      run: async (fleet) => {
        for (const app of APPS) await fleet.replaceAll(app);
      },
    },
    {
      name: 'clock of one process of each app set back',
      run: async (fleet, random) => {
        const shifted = APPS.map((app) => pick(fleet.replicas[app], random));
        for (const replica of shifted) replica.shiftClock();
        await sleep(2 * holdMs);
        for (const replica of shifted) replica.shiftClock();
      },
    },
    {
      name: 'disk of the brokers full',
      run: async (fleet) => {
        await fillBrokers(fleet);
        await sleep(holdMs);
        await emptyBrokers(fleet);
      },
    },
  ];
}
