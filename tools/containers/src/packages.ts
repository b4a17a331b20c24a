import { run } from '@perkway/local-servers';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

/** Downloads are cached here between runs. */
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'perkway', 'containers');

const DOWNLOAD_LIMIT_MS = 180_000;

/** Creates a folder with `fill` once. Incomplete folders of killed runs do not count. */
async function once(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const target = join(CACHE, name);
  if (existsSync(target)) return target;
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, 'draft-'));
  try {
    await fill(draft);
    if (!existsSync(target)) renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return target;
}

/**
 * Options for separate package lists, because the machine's own may be empty and must not change. They may be of
 * another Debian release.
 */
async function aptOptions(release: string | undefined, folder: string): Promise<string[]> {
  mkdirSync(join(folder, 'lists', 'partial'), { recursive: true });
  const options = ['APT::Sandbox::User=root', `Dir::State::lists=${join(folder, 'lists')}`];
  if (release) {
    const own = await run('sh', [
      '-c',
      'cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true',
    ]);
    const address = /^(?:URIs:|deb(?: \[[^\]]*\])?)\s*(\S+)/m.exec(own)?.[1];
    if (!address) throw new Error('apt has no package sources configured');
    const file = join(folder, 'sources.list');
    writeFileSync(
      file,
      `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${address} ${release} main\n`,
    );
    options.push(`Dir::Etc::sourcelist=${file}`, 'Dir::Etc::sourceparts=-');
  }
  return options.flatMap((option) => ['-o', option]);
}

/** Unpacks Debian packages into a folder without installing them. */
export const unpackDebian = (packages: string[], release?: string): Promise<string> =>
  once([...packages, release ?? ''].join('_'), async (folder) => {
    const work = join(folder, 'work');
    mkdirSync(work);
    const options = ['-q', ...(await aptOptions(release, work))];
    const apt = (...args: string[]) =>
      run('apt-get', [...options, ...args], { cwd: work, timeoutMs: DOWNLOAD_LIMIT_MS });
    await apt('update');
    await apt('download', ...packages);
    for (const file of readdirSync(work).filter((name) => name.endsWith('.deb')))
      await run('dpkg', ['-x', join(work, file), folder]);
    rmSync(work, { recursive: true });
  });

/** Unpacks an npm package into a folder without installing it. `spec` is its name, optionally with a version. */
export const unpackNpm = (spec: string): Promise<string> =>
  once(spec.replaceAll('/', '_'), async (folder) => {
    const printed = await run('npm', ['pack', '--silent', spec], {
      cwd: folder,
      timeoutMs: DOWNLOAD_LIMIT_MS,
    });
    const archive = join(folder, basename(printed.trim()));
    await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1']);
    rmSync(archive);
  });

/** Returns a folder with npm packages of these versions and their dependencies. */
export const installNpm = (name: string, packages: Record<string, string>): Promise<string> =>
  once(`${name}-${Object.values(packages).join('-')}`, async (folder) => {
    const specs = Object.entries(packages).map(([each, version]) => `${each}@${version}`);
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--silent', '--prefix', folder];
    await run('npm', ['install', ...options, ...specs], { cwd: folder, timeoutMs: DOWNLOAD_LIMIT_MS });
  });

/** Installs Debian packages if their programs are missing; needs root. */
export async function installDebian(programs: string[], packages: string[]): Promise<void> {
  const missing = await Promise.all(
    programs.map((program) =>
      run('sh', ['-c', `command -v ${program}`]).then(
        () => false,
        () => true,
      ),
    ),
  );
  if (!missing.includes(true)) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { timeoutMs: DOWNLOAD_LIMIT_MS });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    env,
    timeoutMs: DOWNLOAD_LIMIT_MS,
  });
}
