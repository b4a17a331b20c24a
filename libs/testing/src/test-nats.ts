import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startNats, type LocalServer } from '@perkway/local-servers';
import { runFolder } from './test-servers.js';

export interface TestNats {
  url: string;
  /** SIGKILL; `server.start()` or `restart()` brings it back on the same port with the same streams. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers, until `resume()`. */
  pause(): void;
  resume(): void;
  server: LocalServer;
  /** Stops the server and removes its streams. */
  close(): Promise<void>;
}

/** A nats-server with JetStream of its own for one test file, on a free port. It never outlives the test run. */
export async function testNats(): Promise<TestNats> {
  const folder = runFolder('nats');
  const server = await startNats({
    port: 0,
    storeDir: join(folder, 'store'),
    logFile: join(folder, 'nats.log'),
    dieWithParent: true,
  });
  return {
    url: server.url,
    kill: () => server.kill(),
    restart: () => server.restart(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    server,
    close: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
