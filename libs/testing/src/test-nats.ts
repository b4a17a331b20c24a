import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import { BROKER_OPERATOR, parseBrokerUrl } from '@perkway/domain';
import { natsUsersBy, readNatsInfo, startNats, type LocalServer } from '@perkway/local-servers';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runFolder } from './test-servers.js';
import { waitFor } from './wait-for.js';

export interface TestNats {
  /** As the operator, who may do everything. Apps connect as themselves, see `brokerUrlOf`. */
  url: string;
  /** SIGKILL; `server.start()` or `restart()` brings it back on the same port with the same streams. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** SIGSTOP, and waits for its effect: connections stay open and nothing answers, until `resume()`. */
  pause(): Promise<void>;
  resume(): void;
  server: LocalServer;
  /** Stops the server and removes its streams. */
  close(): Promise<void>;
}

const users = natsUsersBy('tests');

/** The broker of `url` (or a proxy before it) as the user of an app, with what that may do. */
export const brokerUrlOf = users.urlOf;

/** The client of the library by itself drops the user of a URL. */
export function connectTo(natsUrl: string, options: ConnectionOptions = {}): Promise<NatsConnection> {
  const { servers, user, password } = parseBrokerUrl(natsUrl);
  return connect({ servers, ...(user && { user, pass: password }), timeout: 5_000, ...options });
}

/**
 * A nats-server with JetStream of its own for one test file, on a free port, with the users of every broker of
 * the fleet. It never outlives the test run.
 */
export async function testNats(): Promise<TestNats> {
  const folder = runFolder('nats');
  const server = await startNats({
    port: 0,
    storeDir: join(folder, 'store'),
    logFile: join(folder, 'nats.log'),
    dieWithParent: true,
    moreConfiguration: users.configuration,
  });
  return {
    url: brokerUrlOf(BROKER_OPERATOR, server.url),
    kill: () => server.kill(),
    restart: () => server.restart(),
    pause: async () => {
      server.pause();
      await waitFor(
        async () => !(await readNatsInfo('127.0.0.1', server.port, 100)),
        'the pause of the broker',
      );
    },
    resume: () => server.resume(),
    server,
    close: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
