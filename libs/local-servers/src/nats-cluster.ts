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
  /** Holds stores, configurations and logs; created if missing. */
  folder: string;
  /** The users' passwords are derived from it. */
  secret: string;
  /** For tests: the servers die with the process that started them. */
  dieWithParent?: boolean;
  /** Maximum bytes of streams on each server's disk. The server rejects messages beyond it. */
  maxFileBytes?: number;
  /** Path of the nats-server; defaults to `findNatsServerForCluster`. */
  binary?: string;
}

export interface NatsCluster {
  /** By server name. */
  servers: ReadonlyMap<string, LocalServer>;
  /** Returns the URLs of all servers as this user, separated by commas. */
  urlOf(user: string): string;
  /** Returns the server that leads a stream. */
  leaderOf(stream: string): Promise<LocalServer>;
  close(): Promise<void>;
}

const SIZE = 3;
const READY_WITHIN_MS = 60_000;

/**
 * Starts three nats-servers with JetStream on the loopback, with production's users and permissions but without TLS.
 * Resolves when each of them reaches the elected leader.
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
      // Servers connect to each other on these addresses.
      `  routes: [${routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')}]`,
      '}',
    ];
    servers.set(
      name,
      await prepareNats({
        name,
        // Fixed, so that the other servers and the apps find it again after a restart.
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

  /** Retries, because servers do not respond during an election. */
  const sendRequest = async <T>(url: string, send: (manager: JetStreamManager) => Promise<T>): Promise<T> => {
    const deadline = Date.now() + READY_WITHIN_MS;
    for (;;)
      try {
        return await withBroker(url, async (connection) => send(await jetstreamManager(connection)));
      } catch (error) {
        if (Date.now() > deadline)
          throw new Error(`The NATS cluster is not ready after ${READY_WITHIN_MS / 1_000} s`, {
            cause: error,
          });
        await sleep(100);
      }
  };

  await Promise.all(all.map((server) => server.start()));
  try {
    await Promise.all(
      all.map(({ url }) =>
        sendRequest(users.urlOf(BROKER_OPERATOR, url), (manager) => manager.getAccountInfo()),
      ),
    );
  } catch (error) {
    await close();
    throw error;
  }

  return {
    servers,
    urlOf,
    leaderOf: (stream) =>
      sendRequest(urlOf(BROKER_OPERATOR), async (manager) => {
        const { cluster } = await manager.streams.info(stream);
        const leader = servers.get(cluster?.leader ?? '');
        if (!leader) throw new Error(`${stream} has no leader`);
        return leader;
      }),
    close,
  };
}
