import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BROKER_OPERATOR, TRACKING_STREAM, type AppName } from '@perkway/domain';
import {
  appEnvironment,
  APPS,
  databaseUrls,
  generateSecrets,
  hasDatabase,
  rolePassword,
  type DatabaseUrls,
} from '@perkway/fleet';
import {
  bundleApp,
  freePort,
  PostgresPair,
  provisionDatabase,
  ServerProcess,
  startNatsCluster,
  type LocalServer,
  type NatsCluster,
} from '@perkway/local-servers';
import type { LoadTarget } from './load.js';
import { RoundRobin } from './round-robin.js';
import { callAdmin, type Admin } from './send-request.js';

export const ROOT = join(import.meta.dirname, '../../..');
const DATABASE = 'fleet';
const READY_WITHIN_MS = 300_000;
const STOP_STEPS = [
  { signal: 'SIGTERM', graceMs: 30_000 },
  { signal: 'SIGKILL', graceMs: 5_000 },
] as const;
/** Time for in-flight connections after a replica is removed from its load balancer. */
const DRAIN_MS = 300;
const RAM_DISK = '/dev/shm';
const MIN_FREE_BYTES = 4 * 1024 ** 3;
/** Enough for 16 replicas with their outboxes, plus one more replica of each app. */
const CONNECTIONS = '400';

export interface TestFleetOptions {
  /** Replicas per app. */
  replicas: number;
  /** Maximum size of the event stream, and of all streams of one broker. */
  streamBytes: number;
  brokerBytes: number;
  /** How far `shiftClock` sets a process's clock back. */
  clockSetBackMs: number;
  progress: (message: string) => void;
  /**
   * Connects apps to the primary directly. The proxy that follows a failover runs in this process and would distort
   * measurements.
   */
  neverFailsOver?: boolean;
  /** Additional Postgres settings. */
  databaseSettings?: Record<string, string>;
  /** Additional environment variables by app. */
  variables?: Partial<Record<AppName, Record<string, string>>>;
}

/** Returns a RAM disk if it has enough space, else the temporary folder. Durability after a power cut is not tested. */
async function chooseFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(RAM_DISK).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > MIN_FREE_BYTES ? RAM_DISK : tmpdir();
}

/** A process runs but is not ready in time, as on a busy machine. */
export class LateError extends Error {}

/** One process of an app. */
export class Replica {
  constructor(
    readonly app: AppName,
    readonly port: number,
    readonly process: ServerProcess,
  ) {}

  /** The process's own URL, which bypasses the load balancer. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  signal(signal: NodeJS.Signals): void {
    this.process.signal(signal);
  }

  /** Sets the clock back; a second call restores it. */
  shiftClock(): void {
    this.process.signal('SIGUSR2');
  }

  /** Checks that our process is alive too: another server could have taken its port. */
  async isReady(): Promise<boolean> {
    const responds = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    return responds && this.process.running;
  }
}

/**
 * A production-like deployment on one machine: several processes of each built app behind a load balancer, three
 * brokers with production's users and permissions, and a Postgres with a synchronous standby behind one address.
 */
export class TestFleet implements LoadTarget {
  readonly secrets = generateSecrets();
  readonly urls = {} as Record<AppName, string>;
  readonly replicas = {} as Record<AppName, Replica[]>;
  postgres: PostgresPair;
  brokers: NatsCluster;
  private readonly loadBalancers = {} as Record<AppName, RoundRobin>;

  private constructor(
    readonly folder: string,
    private readonly options: TestFleetOptions,
  ) {}

  static async start(options: TestFleetOptions): Promise<TestFleet> {
    const fleet = new TestFleet(await mkdtemp(join(await chooseFolder(), 'perkway-fleet-')), options);
    try {
      await fleet.launch();
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  get database(): DatabaseUrls {
    const { url, primary } = this.postgres;
    return databaseUrls(this.options.neverFailsOver ? primary.url : url, {
      database: DATABASE,
      passwordOf: rolePassword(this.secrets.superuserPassword),
    });
  }

  get brokerUrl(): string {
    return this.brokers.urlOf(BROKER_OPERATOR);
  }

  get streamLeader(): Promise<LocalServer> {
    return this.brokers.leaderOf(TRACKING_STREAM);
  }

  /** Calls an app with the ADMIN key. */
  readonly admin: Admin = (app, method, path, ...more) =>
    callAdmin(this.urls[app] + path, this.secrets.adminKey, method, ...more);

  /** Replaces a replica that was killed. */
  async restart(replica: Replica): Promise<void> {
    const { app, port } = replica;
    const replicas = this.replicas[app];
    const fresh = await this.launchReplica(app, port);
    replicas[replicas.indexOf(replica)] = fresh;
    await this.untilReady(fresh);
  }

  /**
   * Replaces all processes of an app one by one, as a rolling update does: the new one is ready before the old one
   * stops.
   */
  async replaceAll(app: AppName): Promise<void> {
    for (const old of [...this.replicas[app]]) {
      const fresh = await this.launchReplica(app, await freePort());
      await this.untilReady(fresh);
      this.loadBalancers[app].add(fresh.port);
      this.loadBalancers[app].remove(old.port);
      this.replicas[app].splice(this.replicas[app].indexOf(old), 1, fresh);
      await sleep(DRAIN_MS);
      await old.process.stop(STOP_STEPS);
      const { code } = await old.process.exited;
      if (code !== 0) throw new Error(`a replaced ${app} exited with ${code}:\n${old.process.logTail()}`);
    }
  }

  /** Waits until every process of every app is ready. */
  async untilAllReady(): Promise<void> {
    await Promise.all(
      Object.values(this.replicas).flatMap((all) => all.map((each) => this.untilReady(each))),
    );
  }

  /** @param keep keeps the folder with the logs */
  async stop({ keep = false } = {}): Promise<void> {
    await Promise.all(
      Object.values(this.replicas).flatMap((all) => all.map(({ process }) => process.stop(STOP_STEPS))),
    );
    await Promise.all(Object.values(this.loadBalancers).map((balancer) => balancer.close()));
    await this.brokers?.close();
    await this.postgres?.close();
    if (!keep) await rm(this.folder, { recursive: true, force: true });
  }

  private async launch(): Promise<void> {
    const { progress } = this.options;
    progress('bundling the apps');
    await Promise.all(APPS.map((app) => bundleApp(app, this.folder)));

    progress('starting Postgres with a standby and three brokers');
    const { superuserPassword, natsSecret } = this.secrets;
    [this.postgres, this.brokers] = await Promise.all([
      PostgresPair.start({
        folder: join(this.folder, 'postgres'),
        superuserPassword,
        durable: false,
        dieWithParent: true,
        settings: { max_connections: CONNECTIONS, ...this.options.databaseSettings },
      }),
      startNatsCluster({
        folder: join(this.folder, 'brokers'),
        secret: natsSecret,
        dieWithParent: true,
        maxFileBytes: this.options.brokerBytes,
      }),
    ]);
    await provisionDatabase(this.postgres.primary.url, {
      database: DATABASE,
      passwordOf: rolePassword(superuserPassword),
    });

    // All addresses first, because each app needs those of the others.
    for (const app of APPS) {
      this.loadBalancers[app] = await RoundRobin.listen();
      this.urls[app] = this.loadBalancers[app].url;
    }
    progress('migrating and starting the apps');
    await Promise.all(
      APPS.map(async (app) => {
        await this.migrate(app);
        const ports = await Promise.all(Array.from({ length: this.options.replicas }, () => freePort()));
        this.replicas[app] = await Promise.all(ports.map((port) => this.launchReplica(app, port)));
        for (const port of ports) this.loadBalancers[app].add(port);
      }),
    );
    await this.untilAllReady();
  }

  private bundleOf(app: AppName): string {
    return join(this.folder, app);
  }

  private async migrate(app: AppName): Promise<void> {
    if (!hasDatabase(app)) return;
    const migration = await this.launchScript(app, 'migrate.js', 0);
    const { code } = await migration.exited;
    if (code !== 0) throw new Error(`the migrations of ${app} failed:\n${migration.logTail()}`);
  }

  private async launchReplica(app: AppName, port: number): Promise<Replica> {
    return new Replica(app, port, await this.launchScript(app, 'main.js', port));
  }

  private launchScript(app: AppName, script: string, port: number): Promise<ServerProcess> {
    return ServerProcess.launch({
      command: process.execPath,
      args: ['--require', join(import.meta.dirname, 'clock.cjs'), join(this.bundleOf(app), script)],
      env: {
        PATH: process.env.PATH,
        LOG_LEVEL: 'info',
        CLOCK_SET_BACK_MS: String(this.options.clockSetBackMs),
        DATABASE_POOL_SIZE: '5',
        TRACKING_REPLICAS: '3',
        TRACKING_MAX_BYTES: String(this.options.streamBytes),
        ...appEnvironment(app, {
          port,
          urls: this.urls,
          database: this.database,
          natsUrl: this.brokers.urlOf(app),
          secrets: this.secrets,
          trustedProxies: '127.0.0.0/8',
        }),
        ...this.options.variables?.[app],
      },
      logFile: join(this.folder, 'logs', `${app}-${port}.log`),
      dieWithParent: true,
      // Linux gives each session the same share of the processors. With one session per replica, Postgres with all its
      // connections would get a twenty-fifth of a busy machine.
      inSession: !process.stdin.isTTY,
    });
  }

  private async untilReady(replica: Replica): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!(await replica.isReady())) {
      const { running } = replica.process;
      const log = () => `the end of its log:\n${replica.process.logTail()}`;
      if (!running) throw new Error(`${replica.app} has exited; ${log()}`);
      if (Date.now() > deadline) throw new LateError(`${replica.app} is not ready; ${log()}`);
      await sleep(100);
    }
  }
}
