import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { APPS, FLEET } from '@perkway/fleet';
import {
  callAdmin,
  type Admin,
  sendRequest,
  type HttpResponse,
  type LoadTarget,
  type Request,
} from '@perkway/test-fleet';
import type { Engine } from './engine.js';
import { ROOT } from './paths.js';

const COMPOSE_FILE = join(ROOT, 'docker/compose.yaml');
const UP = join(ROOT, 'docker/up');
const READY_LIMIT_MS = 480_000;
const UPGRADE_LIMIT_MS = 900_000;
const RESPONSE_LIMIT_MS = 20_000;
const DOWN_LIMIT_MS = 60_000;
const DOMAIN = 'perkway.localhost:8080';

export interface StackOptions {
  project: string;
  /** Tag of our images. */
  version: string;
  /** The proxy's port on this machine. */
  port: number;
  /** The folder with the secrets. */
  secrets: string;
  /** Whether the apps connect through the pooler. */
  isPooled?: boolean;
  /** An additional compose file that overrides ours. */
  override?: string;
}

interface Container {
  Id: string;
  Name: string;
  State: { Status: string; ExitCode: number; OOMKilled: boolean; Health?: { Status: string } };
  Config: { Image: string };
  NetworkSettings: { Networks: Record<string, { IPAddress: string }> };
  Created: string;
}

/** The stack of docker/compose.yaml under its own project name. */
export class ComposeStack implements LoadTarget {
  readonly urls = Object.fromEntries(
    APPS.map((app) => [app, `http://${FLEET[app].host}.${DOMAIN}`]),
  ) as LoadTarget['urls'];
  readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(
    readonly engine: Engine,
    readonly options: StackOptions,
  ) {}

  private environment(version: string): Record<string, string> {
    const { port, secrets, isPooled } = this.options;
    return {
      PERKWAY_VERSION: version,
      PERKWAY_BIND: `127.0.0.1:${port}`,
      PERKWAY_DOMAIN: DOMAIN,
      PERKWAY_SECRETS: secrets,
      PERKWAY_POOLED: isPooled ? 'POOLED_' : '',
    };
  }

  compose(args: string[], version = this.options.version, timeoutMs = 600_000): Promise<string> {
    const { project, override } = this.options;
    const files = [COMPOSE_FILE, ...(override ? [override] : [])].flatMap((file) => ['--file', file]);
    return this.engine.compose(['--project-name', project, ...files, ...args], {
      env: this.environment(version),
      timeoutMs,
    });
  }

  /** Generates missing secrets in the folder. */
  makeSecrets = () => this.secretsCommand('/secrets');

  /** Takes one step of the rotation of a secret. */
  rotate = (variable: string) => this.secretsCommand('rotate', variable, '/secrets');

  /** Runs `perkway secrets` in its image, as an operator does. */
  private secretsCommand(...args: string[]): Promise<string> {
    const { secrets, version } = this.options;
    return this.engine.docker([
      ...['run', '--rm', '--user', `${process.getuid!()}`, '--volume', `${secrets}:/secrets`],
      ...[`perkway/perkway:${version}`, 'node', 'main.js', 'secrets', ...args],
    ]);
  }

  adminKey(): string {
    return readFileSync(join(this.options.secrets, 'token-issuer/BOOTSTRAP_ADMIN_KEY'), 'utf8').trim();
  }

  /** Starts services with their dependencies, or all. Resolves when everything with a health check is healthy. */
  async up(services: string[] = [], version?: string): Promise<void> {
    await this.compose(['up', '--detach', '--no-build', '--quiet-pull', ...services], version);
    await this.healthy();
  }

  async healthy(): Promise<void> {
    const deadline = Date.now() + READY_LIMIT_MS;
    for (;;) {
      const containers = await this.containers();
      const waiting = containers.filter(
        ({ State }) => State.Status === 'running' && (State.Health?.Status ?? 'healthy') !== 'healthy',
      );
      const failed = containers.find(({ State }) => State.Status === 'exited' && State.ExitCode !== 0);
      if (failed)
        throw new Error(`${failed.Name} exited with ${failed.State.ExitCode}: ${await this.logs(failed.Id)}`);
      if (waiting.length === 0) return;
      if (Date.now() > deadline)
        throw new Error(
          `not healthy: ${await Promise.all(waiting.map(async ({ Id, Name }) => `${Name}: ${await this.logs(Id)}`))}`,
        );
      await sleep(250);
    }
  }

  /** Returns the containers of a service, or all, oldest first. */
  async containers(service?: string): Promise<Container[]> {
    const ids = (await this.compose(['ps', '--all', '--quiet', ...(service ? [service] : [])]))
      .trim()
      .split('\n')
      .filter(Boolean);
    if (ids.length === 0) return [];
    const containers = JSON.parse(await this.engine.docker(['inspect', ...ids])) as Container[];
    return containers.sort((a, b) => a.Created.localeCompare(b.Created));
  }

  async logs(container: string, lines = 20): Promise<string> {
    return this.engine.docker(['logs', '--tail', String(lines), container], { includeStderr: true });
  }

  /** Returns the address of a service in its network, which this machine can reach too. */
  async address(service: string): Promise<string> {
    const [container] = await this.containers(service);
    return Object.values(container!.NetworkSettings.Networks)[0]!.IPAddress;
  }

  /** Recreates the containers of apps, all at once. `scales` are their numbers; default 1. Resolves when they are healthy. */
  async recreate(apps: string[], version?: string, scales: Record<string, number> = {}): Promise<void> {
    const options = apps.flatMap((app) => ['--scale', `${app}=${scales[app] ?? 1}`]);
    await this.compose(
      ['up', '--detach', '--no-build', '--no-deps', '--force-recreate', ...options, ...apps],
      version,
    );
    await this.healthy();
  }

  /** Sends a request through the proxy, as from outside. */
  readonly send = (url: string, { headers, ...request }: Request = {}): Promise<HttpResponse> =>
    sendRequest(
      url,
      { ...request, headers: { host: new URL(url).host, ...headers } },
      { hostname: '127.0.0.1', port: this.options.port, agent: this.agent, timeout: RESPONSE_LIMIT_MS },
    );

  /** Sends a request to a host by name. */
  request(host: string, path: string, request?: Request): Promise<HttpResponse> {
    return this.send(`http://${host}.${DOMAIN}${path}`, request);
  }

  /** Calls the management API on the second port of an app, as an operator inside the network does. */
  readonly admin: Admin = async (app, method, path, ...more) =>
    callAdmin(`http://${await this.address(app)}:9090${path}`, this.adminKey(), method, ...more);

  /** Starts or upgrades the stack as an operator does. */
  async dockerUp(...args: string[]): Promise<void> {
    const { project, version } = this.options;
    await this.engine.script(UP, ['--no-build', ...args], {
      env: { ...this.environment(version), COMPOSE_PROJECT_NAME: project },
      timeoutMs: UPGRADE_LIMIT_MS,
    });
  }

  /** Removes everything, including data. */
  async down(): Promise<void> {
    this.agent.destroy();
    const profiles = ['demo', 'observability', 'pooler'].flatMap((name) => ['--profile', name]);
    const down = () => this.compose([...profiles, 'down', '--volumes', '--timeout', '5', '--remove-orphans']);
    // After a container was removed on a busy machine, the engine may keep its endpoint, and not remove the network.
    for (const deadline = Date.now() + DOWN_LIMIT_MS; ; await sleep(1_000)) {
      const failure = await down().then(
        () => undefined,
        (error: Error) => error,
      );
      if (!failure) return;
      if (Date.now() > deadline) {
        // Some endpoints stay until the engine restarts. Only this stack uses the network.
        if (failure.message.includes('has active endpoints') && (await this.hasOnlyNetworks())) return;
        throw failure;
      }
      await this.disconnectAll();
    }
  }

  /** Lists the ids of what this stack has in the engine. */
  private async list(...command: string[]): Promise<string[]> {
    const label = `label=com.docker.compose.project=${this.options.project}`;
    const ids = await this.engine.docker([...command, '--quiet', '--filter', label]);
    return ids.split('\n').filter(Boolean);
  }

  private async hasOnlyNetworks(): Promise<boolean> {
    const [containers, volumes] = await Promise.all([this.list('ps', '--all'), this.list('volume', 'ls')]);
    return containers.length === 0 && volumes.length === 0;
  }

  private async disconnectAll(): Promise<void> {
    for (const network of await this.list('network', 'ls')) {
      const inspected = await this.engine.docker(['network', 'inspect', network]);
      const [{ Containers }] = JSON.parse(inspected) as [{ Containers: Record<string, { Name: string }> }];
      for (const { Name } of Object.values(Containers))
        await this.engine.docker(['network', 'disconnect', '--force', network, Name]).catch(() => undefined);
    }
  }
}
