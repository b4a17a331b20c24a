import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { LocalServer } from './local-server.js';
import { findNatsServer, isNatsAtLeast, natsVersion } from './nats-binary.js';
import { ServerProcess } from './server-process.js';

export interface NatsOptions {
  /** On 127.0.0.1; 0 takes a free one. */
  port: number;
  /** Holds the JetStream store and the generated configuration; created if missing. */
  storeDir: string;
  logFile: string;
  /** For tests: the server dies with the process that started it. */
  dieWithParent?: boolean;
  /** Called with the pid of each new process, before it is ready. */
  onSpawn?: (pid: number) => void;
  /** Additional configuration, such as users or TLS. Without users everybody may do everything. */
  moreConfiguration?: string;
  /** Path of the nats-server; defaults to `findNatsServer`. */
  binary?: string;
  /** Server name in a cluster; random by default. */
  name?: string;
  /** Maximum bytes of streams on disk, 10 GB by default, as in compose. The server refuses more. */
  maxFileBytes?: number;
}

/** The INFO message that a server sends to each client. */
interface NatsInfo {
  server_name: string;
  jetstream?: boolean;
}

/** Returns the INFO message of the server at this address, or undefined if none arrives within `timeoutMs`. */
export const readNatsInfo = (host: string, port: number, timeoutMs: number): Promise<NatsInfo | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    let text = '';
    const settle = (info?: NatsInfo) => {
      socket.destroy();
      resolve(info);
    };
    socket.setTimeout(timeoutMs, settle);
    socket.setEncoding('utf8');
    socket.on('error', () => settle());
    socket.on('close', () => settle());
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\r\n');
      if (end === -1) return;
      try {
        settle(JSON.parse(text.slice('INFO '.length, end)) as NatsInfo);
      } catch {
        settle();
      }
    });
  });

function configuration(options: NatsOptions, name: string, port: number, version: readonly number[]): string {
  // `always` flushes before a publish is acknowledged, so that acknowledged messages survive a power cut. 2.9 rejects
  // the setting and flushes every two minutes, which is enough for a crash of the server alone.
  return [
    `server_name: ${JSON.stringify(name)}`,
    'host: "127.0.0.1"',
    `port: ${port}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(options.storeDir)}`,
    ...(isNatsAtLeast(version, 2, 10) ? ['  sync_interval: always'] : []),
    // The server's default depends on the disk's free space at its start. It could be too small for the tracking stream.
    `  max_file: ${options.maxFileBytes ?? 10_000_000_000}`,
    '}',
    ...(options.moreConfiguration ? [options.moreConfiguration] : []),
    '',
  ].join('\n');
}

/** Prepares a nats-server with a JetStream file store, without starting it. */
export async function prepareNats(options: NatsOptions): Promise<LocalServer> {
  const binary = options.binary ?? (await findNatsServer());
  const version = await natsVersion(binary);
  const name = options.name ?? `perkway-${randomBytes(6).toString('hex')}`;
  const config = join(options.storeDir, 'nats-server.conf');
  const mayMove = options.port <= 0;
  let port = mayMove ? await freePort() : options.port;

  return new LocalServer({
    title: 'nats-server',
    port: () => port,
    url: () => `nats://127.0.0.1:${port}`,
    spawn: async () => {
      await mkdir(options.storeDir, { recursive: true });
      await writeFile(config, configuration(options, name, port, version), { mode: 0o600 });
      return ServerProcess.launch({
        command: binary,
        args: ['-c', config],
        logFile: options.logFile,
        dieWithParent: options.dieWithParent,
      });
    },
    // Compare the name, because another server may have taken the port first.
    isReady: async () => {
      const info = await readNatsInfo('127.0.0.1', port, 1_000);
      return info?.server_name === name && info.jetstream === true;
    },
    mayRetry: async (log) => {
      if (!mayMove || !/address already in use/i.test(log)) return false;
      port = await freePort();
      return true;
    },
    onSpawn: options.onSpawn,
    stopSteps: [
      { signal: 'SIGTERM', graceMs: 10_000 },
      { signal: 'SIGKILL', graceMs: 5_000 },
    ],
  });
}

/** Starts a nats-server with a JetStream file store and waits until it is ready. */
export async function startNats(options: NatsOptions): Promise<LocalServer> {
  const server = await prepareNats(options);
  await server.start();
  return server;
}
