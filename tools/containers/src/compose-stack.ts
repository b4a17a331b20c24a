import { readFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders, Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from './engine.js';
import { ROOT } from './paths.js';

const COMPOSE_FILE = join(ROOT, 'docker/compose.yaml');
const READY_LIMIT_MS = 480_000;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface StackOptions {
  project: string;
  /** Tag of our images. */
  version: string;
  /** On this machine, for the proxy. */
  port: number;
  /** The folder of secrets. */
  secrets: string;
  /** Another compose file, on top of ours. */
  override?: string;
}

interface Container {
  Id: string;
  Name: string;
  State: { Status: string; ExitCode: number; OOMKilled: boolean; Health?: { Status: string } };
  NetworkSettings: { Networks: Record<string, { IPAddress: string }> };
  Created: string;
}

/** The stack of docker/compose.yaml under a name of its own. */
export class ComposeStack {
  readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(
    readonly engine: Engine,
    readonly options: StackOptions,
  ) {}

  compose(args: string[], version = this.options.version, timeoutMs = 600_000): Promise<string> {
    const { project, port, secrets, override } = this.options;
    const files = [COMPOSE_FILE, ...(override ? [override] : [])].flatMap((file) => ['--file', file]);
    const env = {
      PERKWAY_VERSION: version,
      PERKWAY_BIND: `127.0.0.1:${port}`,
      PERKWAY_DOMAIN: `perkway.localhost:8080`,
      PERKWAY_SECRETS: secrets,
    };
    return this.engine.compose(['--project-name', project, ...files, ...args], {
      env,
      timeoutMs,
    });
  }

  /** Makes what is missing in the folder of secrets. */
  async makeSecrets(): Promise<void> {
    const { secrets, version } = this.options;
    const volume = ['--user', `${process.getuid!()}`, '--volume', `${secrets}:/secrets`];
    await this.engine.docker([
      'run',
      '--rm',
      ...volume,
      `perkway/perkway:${version}`,
      'node',
      'main.js',
      'secrets',
      '/secrets',
    ]);
  }

  adminKey(): string {
    return readFileSync(join(this.options.secrets, 'token-issuer/BOOTSTRAP_ADMIN_KEY'), 'utf8').trim();
  }

  /** Starts services and what they need, or all; answers when all that has a health is healthy. */
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
        throw new Error(`${failed.Name} ended with ${failed.State.ExitCode}: ${await this.logs(failed.Id)}`);
      if (waiting.length === 0) return;
      if (Date.now() > deadline)
        throw new Error(
          `not healthy: ${await Promise.all(waiting.map(async ({ Id, Name }) => `${Name}: ${await this.logs(Id)}`))}`,
        );
      await sleep(250);
    }
  }

  /** Of a service or of all, the oldest first. */
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
    return this.engine.docker(['logs', '--tail', String(lines), container], { withErrors: true });
  }

  /** The address of a service within its network, which this machine reaches too. */
  async address(service: string): Promise<string> {
    const [container] = await this.containers(service);
    return Object.values(container!.NetworkSettings.Networks)[0]!.IPAddress;
  }

  /** Makes the containers of apps anew, all at once, and answers when they are healthy. */
  async recreate(apps: string[], version?: string): Promise<void> {
    await this.compose(['up', '--detach', '--no-build', '--no-deps', '--force-recreate', ...apps], version);
    await this.healthy();
  }

  /** Asks a host by its name through the proxy, from outside. */
  ask(
    host: string,
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> {
    const headers = { host: `${host}.perkway.localhost:8080`, ...options.headers };
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port: this.options.port,
          path,
          method: options.method,
          headers,
          agent: this.agent,
          timeout: 20_000,
        },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text: string) => (body += text));
          response.on('end', () =>
            resolve({ status: response.statusCode!, headers: response.headers, body }),
          );
          response.on('error', reject);
        },
      );
      asked.on('timeout', () => asked.destroy(new Error('no answer within 20 s')));
      asked.on('error', reject);
      asked.end(options.body);
    });
  }

  /**
   * Puts new replicas of services beside the old ones, two at a time, and takes each old one away when the new ones are
   * ready; while it drains the next two start.
   */
  async replace(services: readonly string[], version = this.options.version): Promise<void> {
    const old: string[] = [];
    let leaving: Promise<unknown> = Promise.resolve();
    for (let index = 0; index < services.length; index += 2) {
      const both = services.slice(index, index + 2);
      const [replaced] = await Promise.all([this.startBeside(both, version), leaving]);
      leaving = this.engine.docker(['stop', '--time', '25', ...replaced]);
      old.push(...replaced);
    }
    await leaving;
    // Not before: compose lists containers first and asks about each then.
    await this.engine.docker(['rm', ...old]);
  }

  /** Answers the containers that were there. */
  private async startBeside(services: readonly string[], version: string): Promise<string[]> {
    const old = await Promise.all(services.map(async (service) => (await this.containers(service))[0]!.Id));
    const scale = services.flatMap((service) => ['--scale', `${service}=2`]);
    await this.compose(
      ['up', '--detach', '--no-build', '--no-deps', '--no-recreate', ...scale, ...services],
      version,
    );
    await this.healthy();
    return old;
  }

  /** Ends everything, data included. */
  async down(): Promise<void> {
    this.agent.destroy();
    await this.compose([
      '--profile',
      'demo',
      '--profile',
      'observability',
      'down',
      '--volumes',
      '--timeout',
      '5',
      '--remove-orphans',
    ]);
  }
}
