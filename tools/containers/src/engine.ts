import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, type CommandOptions } from './command.js';
import { startOwnEngine } from './own-engine.js';
import { installDebian, unpackDebian } from './packages.js';
import { STAND_INS } from './stand-ins.js';

const PULL_LIMIT_MS = 300_000;

/** The client of Debian's package, if it is there: a static one may come without the builder. */
const client = (): string => (existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker');

/** A Docker engine: one that runs here already, or one of our own that leaves nothing behind. */
export class Engine {
  private constructor(
    /** What CI prints. */
    readonly description: string,
    /** By which docker finds it, here and in other processes. */
    readonly environment: Record<string, string>,
    readonly stop: () => Promise<void>,
  ) {}

  /** @throws Error that says why there can be none. */
  static async start(): Promise<Engine> {
    const running = await command(client(), ['version', '--format', '{{.Server.Version}}']).catch(() => '');
    if (running) return new Engine(`the Docker engine ${running.trim()} that runs here`, {}, async () => {});
    if (process.getuid?.() !== 0) throw new Error('no Docker engine runs here, and only root can start one');
    await installDebian(['dockerd', 'iptables', 'docker-init'], ['docker.io', 'iptables', 'tini']);
    const { socket, stop } = await startOwnEngine();
    const engine = new Engine('a Docker engine of its own', { DOCKER_HOST: socket }, stop);
    const version = await engine.docker(['version', '--format', '{{.Server.Version}}']);
    return new Engine(`${engine.description}, ${version.trim()}`, engine.environment, stop);
  }

  docker(args: string[], options: CommandOptions = {}): Promise<string> {
    const env = { ...process.env, ...this.environment, DOCKER_BUILDKIT: '1', ...options.env };
    return command(client(), args, { ...options, env });
  }

  /** Version 2 of compose. */
  async compose(args: string[], options: CommandOptions = {}): Promise<string> {
    const env = { ...process.env, ...this.environment, ...options.env };
    const plugin = await command(client(), ['compose', 'version'], { env }).catch(() => '');
    if (plugin) return command(client(), ['compose', ...args], { ...options, env });
    const unpacked = await unpackDebian(['docker-compose'], 'trixie');
    const program = join(unpacked, 'usr/libexec/docker/cli-plugins/docker-compose');
    return command(program, args, { ...options, env });
  }

  /** Pulls an image, or makes its stand-in where no registry is reached. Answers which of them. */
  async provide(image: string): Promise<'there already' | 'pulled' | 'a stand-in'> {
    if (await this.docker(['image', 'inspect', image]).catch(() => '')) return 'there already';
    const pull = this.docker(['pull', '--quiet', image], { timeoutMs: PULL_LIMIT_MS });
    if (await pull.catch(() => '')) return 'pulled';
    await this.makeStandIn(image);
    return 'a stand-in';
  }

  /** Fills an image, under the name of the one that it stands in for. */
  async makeStandIn(image: string): Promise<void> {
    const standIn = STAND_INS[image.split(':')[0]!];
    if (!standIn) throw new Error('cannot be pulled, and nothing can stand in for it');
    const root = mkdtempSync(join(tmpdir(), 'perkway-root-'));
    const archive = `${root}.tar`;
    try {
      await standIn.fill(root);
      await command('tar', ['-C', root, '-cf', archive, '.']);
      const changes = standIn.settings.flatMap((setting) => ['--change', setting]);
      await this.docker(['import', ...changes, archive, image]);
    } finally {
      rmSync(root, { recursive: true });
      rmSync(archive, { force: true });
    }
  }

  /** @throws Error that says why no container runs here, though an engine does. */
  async tryOut(): Promise<void> {
    const image = 'busybox:perkway-way';
    const network = `perkway-way-${process.pid}`;
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
