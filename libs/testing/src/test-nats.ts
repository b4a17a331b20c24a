import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import { BROKER_OPERATOR, parseBrokerUrl } from '@perkway/domain';
import { natsUsersBy, readNatsInfo, startNats, type LocalServer } from '@perkway/local-servers';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runFolder } from './test-servers.js';
import { waitFor } from './wait-for.js';

export interface TestNats {
  /** Connects as the operator, who may do everything. Apps connect as themselves, see `brokerUrlOf`. */
  url: string;
  /** Sends SIGKILL. `server.start()` or `restart()` brings the server back on the same port with the same streams. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Sends SIGSTOP and waits for its effect: connections stay open and nothing responds until `resume()`. */
  pause(): Promise<void>;
  resume(): void;
  server: LocalServer;
  /** Stops the server and removes its streams. */
  close(): Promise<void>;
}

const users = natsUsersBy('tests');

/** Returns the broker URL (or that of a proxy in front of it) with the user and permissions of an app. */
export const brokerUrlOf = users.urlOf;

/** Connects with the user of the URL, which the NATS client alone would ignore. */
export function connectTo(natsUrl: string, options: ConnectionOptions = {}): Promise<NatsConnection> {
  const { servers, user, password } = parseBrokerUrl(natsUrl);
  return connect({ servers, ...(user && { user, pass: password }), timeout: 20_000, ...options });
}

/**
 * Starts a nats-server with JetStream for one test file on a free port, with the broker users of the fleet. It dies
 * with the test run.
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
      await waitFor(async () => !(await readNatsInfo('127.0.0.1', server.port, 100)), 'the broker to pause');
    },
    resume: () => server.resume(),
    server,
    close: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
