import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath, run } from './server-process.js';

const HOW_TO_GET_IT =
  'install nats-server (https://docs.nats.io/running-a-nats-service/introduction/installation), set NATS_SERVER_BIN to its path, or set NATS_URL to a running server';

/** Returns the folder for downloads: in the user's cache folder, or in the temp folder if that is not writable. */
async function cacheFolder(): Promise<string> {
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env;
  const candidates = [
    ...(cache ? [join(cache, 'perkway')] : home ? [join(home, '.cache', 'perkway')] : []),
    join(tmpdir(), `perkway-cache-${process.getuid?.() ?? 0}`),
  ];
  for (const folder of candidates) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      accessSync(folder, constants.W_OK | constants.X_OK);
      // Anybody can create a folder in the temp folder. Never run a program from another user's folder.
      if (!process.getuid || statSync(folder).uid === process.getuid()) return folder;
    } catch {
      // Try the next one.
    }
  }
  throw new Error(`cannot write to ${candidates.join(' or ')}`);
}

async function isUsable(binary: string): Promise<boolean> {
  try {
    await natsVersion(binary);
    return true;
  } catch {
    return false;
  }
}

/** Returns `[major, minor, patch]` of a nats-server binary. */
export async function natsVersion(binary: string): Promise<[number, number, number]> {
  const text = await run(binary, ['--version'], { timeoutMs: 10_000 });
  const found = /v?(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (!found) throw new Error(`${binary} is not a nats-server`);
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

export const isNatsAtLeast = ([major = 0, minor = 0]: readonly number[], atMajor: number, atMinor: number) =>
  major > atMajor || (major === atMajor && minor >= atMinor);

/** Returns apt options to download from another Debian release, on the same mirror as the machine's own sources. */
async function sourcesOf(release: string, work: string): Promise<string[]> {
  const own = await run(
    'sh',
    [
      '-c',
      'cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true',
    ],
    { timeoutMs: 10_000 },
  );
  const address = /^(?:URIs:|deb(?: \[[^\]]*\])?)\s*(\S+)/m.exec(own)?.[1];
  if (!address) throw new Error('apt has no package sources configured');
  const file = join(work, 'sources.list');
  await writeFile(
    file,
    `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${address} ${release} main\n`,
  );
  return ['-o', `Dir::Etc::sourcelist=${file}`, '-o', 'Dir::Etc::sourceparts=-'];
}

/**
 * Downloads and unpacks Debian's package with apt and dpkg without root. It uses its own package lists and archive
 * folder and installs nothing. Defaults to the machine's own release.
 */
async function downloadFromDebian(
  cache: string,
  target: string,
  { signal, release }: { signal?: AbortSignal; release?: string },
): Promise<void> {
  if (!onPath('apt-get') || !onPath('dpkg')) throw new Error('apt-get or dpkg is missing');
  const work = await mkdtemp(join(cache, 'download-'));
  try {
    await mkdir(join(work, 'lists', 'partial'), { recursive: true });
    await mkdir(join(work, 'cache', 'archives', 'partial'), { recursive: true });
    const sources = release ? await sourcesOf(release, work) : [];
    const apt = (args: string[], timeoutMs: number) =>
      run(
        'apt-get',
        [
          '-q',
          ...sources,
          ...['-o', `Dir::State::lists=${work}/lists`, '-o', `Dir::Cache=${work}/cache`],
          // As root, apt would download as its sandbox user, who cannot write to our private folder.
          ...['-o', 'APT::Sandbox::User=root'],
          ...[
            '-o',
            'Acquire::Retries=2',
            '-o',
            'Acquire::http::Timeout=20',
            '-o',
            'Acquire::https::Timeout=20',
          ],
          ...args,
        ],
        { timeoutMs, cwd: work, signal },
      );
    await apt(['update'], 120_000);
    await apt(['download', 'nats-server'], 120_000);
    await run('sh', ['-c', 'dpkg -x nats-server_*.deb unpacked'], { timeoutMs: 60_000, cwd: work });
    const unpacked = ['usr/sbin', 'usr/bin']
      .map((folder) => join(work, 'unpacked', folder, 'nats-server'))
      .find((file) => existsSync(file));
    if (!unpacked || !(await isUsable(unpacked)))
      throw new Error('the downloaded nats-server does not run on this machine');
    await chmod(unpacked, 0o755);
    // A rename is atomic, so concurrent downloads are harmless.
    await rename(unpacked, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

export interface FindOptions {
  /** Called before a download begins. */
  onProgress?: (message: string) => void;
  /** Aborts a download. */
  signal?: AbortSignal;
}

/** The first Debian release with a nats-server for clusters, see `findNatsServerForCluster`. */
const DEBIAN_FOR_CLUSTERS = 'forky';

/** Returns the nats-server in the cache folder, after downloading it if necessary. */
async function cachedNatsServer({ onProgress, signal }: FindOptions, release?: string): Promise<string> {
  try {
    const cache = await cacheFolder();
    const cached = join(cache, release ? `nats-server-${release}` : 'nats-server');
    if (existsSync(cached) && (await isUsable(cached))) return cached;
    onProgress?.('Downloading nats-server (once)');
    await downloadFromDebian(cache, cached, { signal, release });
    return cached;
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]!;
    throw new Error(`nats-server was not found and could not be downloaded (${reason}): ${HOW_TO_GET_IT}`, {
      cause: error,
    });
  }
}

/** Returns `NATS_SERVER_BIN`, else the nats-server on `PATH`. */
async function installedNatsServer(): Promise<string | undefined> {
  const named = process.env.NATS_SERVER_BIN;
  if (named && !(await isUsable(named)))
    throw new Error(`NATS_SERVER_BIN (${named}) is not a nats-server that runs on this machine`);
  const installed = named || onPath('nats-server');
  return installed && (await isUsable(installed)) ? installed : undefined;
}

/**
 * Returns the path of a nats-server: `NATS_SERVER_BIN`, the one on `PATH`, the one in the cache folder, or else
 * Debian's package downloaded into it (without root, within seconds). Rejects with one sentence that says how to get
 * it.
 */
export const findNatsServer = async (options: FindOptions = {}): Promise<string> =>
  (await installedNatsServer()) ?? cachedNatsServer(options);

/**
 * Like `findNatsServer`, but at least 2.12, as in the deployments. In a cluster, 2.9 (Debian 12) can lose acknowledged
 * messages on some replicas when leaders die. With 2.10 (Debian 13), a replica that restarts under load sometimes stays
 * behind until it is restarted again.
 */
export async function findNatsServerForCluster(options: FindOptions = {}): Promise<string> {
  const installed = await installedNatsServer();
  return installed && isNatsAtLeast(await natsVersion(installed), 2, 12)
    ? installed
    : cachedNatsServer(options, DEBIAN_FOR_CLUSTERS);
}
