import { run, type RunOptions } from '@perkway/local-servers';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOwnEngine } from './own-engine.js';
import { installDebian, unpackDebian } from './packages.js';
import { STAND_INS } from './stand-ins.js';

const PULL_LIMIT_MS = 300_000;

/** Returns the docker command. Prefers that of Debian's package, because a static one may lack the builder. */
const client = (): string => (existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker');

/** A Docker engine: one that is already running, or a separate one that leaves nothing behind. */
export class Engine {
  private constructor(
    /** Which engine this is, for CI's output. */
    readonly description: string,
    /** Environment variables with which the docker command finds the engine. */
    readonly environment: Record<string, string>,
    readonly stop: () => Promise<void>,
  ) {}

  /** @throws Error that says why no engine can run */
  static async start(): Promise<Engine> {
    const running = await run(client(), ['version', '--format', '{{.Server.Version}}']).catch(() => '');
    if (running) return new Engine(`the running Docker engine ${running.trim()}`, {}, async () => {});
    if (process.getuid?.() !== 0) throw new Error('no Docker engine is running, and only root can start one');
    await installDebian(['dockerd', 'iptables', 'docker-init'], ['docker.io', 'iptables', 'tini']);
    const { socket, stop } = await startOwnEngine();
    const engine = new Engine('a separate Docker engine', { DOCKER_HOST: socket }, stop);
    const version = await engine.docker(['version', '--format', '{{.Server.Version}}']);
    return new Engine(`${engine.description}, ${version.trim()}`, engine.environment, stop);
  }

  docker(args: string[], options: RunOptions = {}): Promise<string> {
    const env = { ...process.env, ...this.environment, DOCKER_BUILDKIT: '1', ...options.env };
    return run(client(), args, { ...options, env });
  }

  /** Runs compose version 2. */
  async compose(args: string[], options: RunOptions = {}): Promise<string> {
    const env = { ...process.env, ...this.environment, ...options.env };
    const folder = await this.composeFolder();
    if (folder) return run(join(folder, 'docker-compose'), args, { ...options, env });
    return run(client(), ['compose', ...args], { ...options, env });
  }

  /** Runs a script that calls docker and compose, with both on its PATH. */
  async script(file: string, args: string[], options: RunOptions): Promise<string> {
    const folders = [await this.composeFolder(), process.env.PATH].filter(Boolean);
    const env = { ...process.env, ...this.environment, PATH: folders.join(':'), ...options.env };
    return run(file, args, { ...options, env });
  }

  /** Returns the folder of a downloaded compose, or undefined if the docker command has the compose plug-in. */
  private async composeFolder(): Promise<string | undefined> {
    const env = { ...process.env, ...this.environment };
    const plugin = await run(client(), ['compose', 'version'], { env }).catch(() => '');
    if (plugin) return undefined;
    return join(await unpackDebian(['docker-compose'], 'trixie'), 'usr/libexec/docker/cli-plugins');
  }

  /** Pulls an image, or builds its stand-in if the pull fails. Returns which. */
  async provide(image: string): Promise<'there already' | 'pulled' | 'a stand-in'> {
    if (await this.docker(['image', 'inspect', image]).catch(() => '')) return 'there already';
    const pull = this.docker(['pull', '--quiet', image], { timeoutMs: PULL_LIMIT_MS });
    if (await pull.catch(() => '')) return 'pulled';
    await this.makeStandIn(image);
    return 'a stand-in';
  }

  /** Builds a stand-in under the name of the real image. */
  async makeStandIn(image: string): Promise<void> {
    const standIn = STAND_INS[image.split(':')[0]!];
    if (!standIn) throw new Error('cannot be pulled, and has no stand-in');
    const root = mkdtempSync(join(tmpdir(), 'perkway-root-'));
    const archive = `${root}.tar`;
    try {
      await standIn.fill(root);
      await run('tar', ['-C', root, '-cf', archive, '.']);
      const changes = standIn.settings.flatMap((setting) => ['--change', setting]);
      await this.docker(['import', ...changes, archive, image]);
    } finally {
      rmSync(root, { recursive: true });
      rmSync(archive, { force: true });
    }
  }

  /** Runs a container. @throws Error that says why the engine cannot run containers */
  async requireContainers(): Promise<void> {
    const image = 'busybox:perkway-check';
    const network = `perkway-check-${process.pid}`;
    await this.makeStandIn(image);
    try {
      await this.docker(['network', 'create', network]);
      const limits = ['--read-only', '--cap-drop', 'ALL', '--memory', '64m', '--pids-limit', '50'];
      await this.docker(['run', '--rm', '--init', '--network', network, ...limits, image, 'true']);
    } finally {
      await this.docker(['network', 'rm', network]).catch(() => undefined);
      await this.docker(['image', 'rm', image]);
    }
  }
}
