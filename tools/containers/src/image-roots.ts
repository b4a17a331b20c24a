import { run } from '@perkway/local-servers';
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { buildArguments, foreignImages } from './images.js';
import { installDebian } from './packages.js';
import { ROOT } from './paths.js';
import { STAND_INS } from './stand-ins.js';

const BUILD_LIMIT_MS = 600_000;

/** A file to mount into a root. */
export interface Mount {
  from: string;
  to: string;
}

/**
 * Images without an engine: buildah builds them without containers, and bwrap runs their roots read-only, as an
 * unprivileged user, on this machine's network.
 */
export class ImageRoots {
  private readonly folder = mkdtempSync(join(tmpdir(), 'perkway-roots-'));
  private readonly roots = new Map<string, string>();

  /** @throws Error that says why even this does not work on this machine */
  static async requireContainers(): Promise<void> {
    if (process.getuid?.() !== 0) throw new Error('only root can mount images');
    await installDebian(['buildah', 'bwrap'], ['buildah', 'bubblewrap']);
    await run('bwrap', ['--ro-bind', '/', '/', '--unshare-all', '--uid', '1000', 'true']);
    const roots = new ImageRoots();
    try {
      const container = (await roots.buildah(['from', 'scratch'])).trim();
      await roots.buildah(['mount', container]);
    } finally {
      await roots.stop();
    }
  }

  static async start(): Promise<ImageRoots> {
    await ImageRoots.requireContainers();
    const roots = new ImageRoots();
    const [node] = foreignImages();
    const base = join(roots.folder, 'base');
    await STAND_INS[node!.split(':')[0]!]!.fill(base);
    const container = (await roots.buildah(['from', 'scratch'])).trim();
    await roots.buildah(['copy', '--quiet', container, base, '/']);
    await roots.buildah(['config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container]);
    await roots.buildah(['commit', '--quiet', container, node!]);
    await roots.buildah(['rm', container]);
    return roots;
  }

  private buildah(args: string[]): Promise<string> {
    const own = ['--root', join(this.folder, 'store'), '--runroot', join(this.folder, 'run')];
    return run('buildah', [...own, ...args], { cwd: ROOT, timeoutMs: BUILD_LIMIT_MS });
  }

  async build(app: string, tag: string): Promise<void> {
    const options = ['--isolation', 'chroot', '--layers', '--pull-never', '--format', 'docker'];
    await this.buildah(['bud', ...options, ...buildArguments(app, tag), ROOT]);
    const container = (await this.buildah(['from', '--pull-never', `perkway/${app}:${tag}`])).trim();
    this.roots.set(app, (await this.buildah(['mount', container])).trim());
  }

  /** Returns the root folder of an app's image. */
  rootOf(app: string): string {
    return this.roots.get(app)!;
  }

  /** Runs `node <args>` in an image as process 1. It dies with this process. */
  launch(
    app: string,
    args: string[],
    env: Record<string, string>,
    mounts: Mount[],
    logFile: string,
  ): { process: ChildProcess; signal: (name: NodeJS.Signals) => Promise<void> } {
    const log = openSync(logFile, 'a');
    const bwrap = [
      ...['--ro-bind', this.rootOf(app), '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run'],
      ...mounts.flatMap(({ from, to }) => ['--ro-bind', from, to]),
      ...['--unshare-all', '--share-net', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'],
      ...[
        '--as-pid-1',
        '--die-with-parent',
        '--new-session',
        '--chdir',
        '/app',
        '--clearenv',
        '--info-fd',
        '3',
      ],
      ...Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...env }).flatMap(([name, value]) => [
        '--setenv',
        name,
        value,
      ]),
    ];
    const child = spawn('bwrap', [...bwrap, 'node', ...args], { stdio: ['ignore', log, log, 'pipe'] });
    closeSync(log);
    const info = text(child.stdio[3] as Readable);
    // bwrap does not forward signals.
    const signal = async (name: NodeJS.Signals) => {
      const { 'child-pid': pid } = JSON.parse(await info) as { 'child-pid': number };
      process.kill(pid, name);
    };
    return { process: child, signal };
  }

  async stop(): Promise<void> {
    await this.buildah(['rm', '--all']);
    await this.buildah(['rmi', '--all', '--force']);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
