import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { BROKER_OPERATOR } from '@perkway/domain';
import { freePort } from './free-port.js';
import type { LocalServer } from './local-server.js';
import { findNatsServerForCluster } from './nats-binary.js';
import { prepareNats } from './nats-server.js';
import { natsUsersBy } from './nats-users.js';
import { withBroker } from './with-broker.js';

export interface NatsClusterOptions {
  /** Holds stores, configurations and logs; made if need be. */
  folder: string;
  /** The passwords of the users follow from it. */
  secret: string;
  /** Tests: never outlive the process that started it. */
  dieWithParent?: boolean;
  /** Bytes that the streams may take on the disk of each server; beyond them it refuses. */
  maxFileBytes?: number;
  /** The nats-server to start; `findNatsServerForCluster` finds one if absent. */
  binary?: string;
}

export interface NatsCluster {
  /** By the name that the broker knows them by. */
  servers: ReadonlyMap<string, LocalServer>;
  /** All servers as this user, separated by commas. */
  urlOf(user: string): string;
  /** The server that takes the messages of a stream, as the first server that answers has it. */
  leaderOf(stream: string): Promise<LocalServer>;
  close(): Promise<void>;
}

const SIZE = 3;
const READY_WITHIN_MS = 60_000;

/**
 * Three nats-servers on the loopback with JetStream, who may do what as in production, and without TLS. Resolves when
 * they have agreed on who leads.
 */
export async function startNatsCluster(options: NatsClusterOptions): Promise<NatsCluster> {
  const binary = options.binary ?? (await findNatsServerForCluster());
  const users = natsUsersBy(options.secret);
  const names = Array.from({ length: SIZE }, (_, index) => `broker-${index}`);
  const routes: number[] = [];
  for (const _ of names) routes.push(await freePort());

  const servers = new Map<string, LocalServer>();
  await mkdir(options.folder, { recursive: true });
  for (const [index, name] of names.entries()) {
    const cluster = [
      'cluster {',
      '  name: perkway',
      `  listen: "127.0.0.1:${routes[index]}"`,
      // An address that clients are told of is one that they can reach.
      `  routes: [${routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')}]`,
      '}',
    ];
    servers.set(
      name,
      await prepareNats({
        name,
        // It stays the same, so that the others and the apps find it again.
        port: await freePort(),
        storeDir: join(options.folder, name),
        logFile: join(options.folder, `${name}.log`),
        dieWithParent: options.dieWithParent,
        moreConfiguration: [users.configuration, ...cluster].join('\n'),
        maxFileBytes: options.maxFileBytes,
        binary,
      }),
    );
  }
  const all = [...servers.values()];
  const urlOf = (user: string) => users.urlOf(user, all.map(({ url }) => url).join(','));
  const close = async () => {
    await Promise.all(all.map((server) => server.stop()));
  };

  /** While they agree on who leads, they do not answer. */
  const ask = async <T>(question: (manager: JetStreamManager) => Promise<T>): Promise<T> => {
    const deadline = Date.now() + READY_WITHIN_MS;
    for (;;)
      try {
        return await withBroker(urlOf(BROKER_OPERATOR), async (connection) =>
          question(await jetstreamManager(connection)),
        );
      } catch (error) {
        if (Date.now() > deadline)
          throw new Error('the brokers have not agreed on who leads', { cause: error });
        await sleep(100);
      }
  };

  await Promise.all(all.map((server) => server.start()));
  try {
    await ask((manager) => manager.getAccountInfo());
  } catch (error) {
    await close();
    throw error;
  }

  return {
    servers,
    urlOf,
    leaderOf: (stream) =>
      ask(async (manager) => {
        const { cluster } = await manager.streams.info(stream);
        const leader = servers.get(cluster?.leader ?? '');
        if (!leader) throw new Error(`${stream} has no leader`);
        return leader;
      }),
    close,
  };
}
