import { BROKER_OPERATOR, type AppName } from '@perkway/domain';
import {
  appEnvironment,
  APPS,
  FLEET,
  generateSecrets,
  rolePassword,
  type DatabaseUrls,
  type Secrets,
} from '@perkway/fleet';
import {
  freePort,
  natsUsersBy,
  provisionDatabase,
  ServerProcess,
  startNats,
  startPostgres,
  type LocalServer,
} from '@perkway/local-servers';
import { AccountSetup, callAdmin, type Admin } from '@perkway/test-fleet';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { build, type BuildOptions } from 'rolldown';
import { familyCpuSeconds } from './process-usage.js';

const DATABASE = 'bench';
export const ROOT = join(import.meta.dirname, '../../..');
const START_LIMIT_MS = 60_000;
const STOP = [
  { signal: 'SIGTERM', graceMs: 12_000 },
  { signal: 'SIGKILL', graceMs: 2_000 },
] as const;

export interface FleetOptions {
  /** Folder with the programs of another Postgres; defaults to npm's. */
  programs?: string;
  /** A superuser's URL of a running server. */
  server?: string;
}

/** Removes keys of an earlier run, which were hashed with lost secrets. */
async function forgetAccounts(adminUrl: string): Promise<void> {
  const url = new URL(adminUrl);
  url.pathname = `/${DATABASE}`;
  const client = new pg.Client({ connectionString: url.toString(), connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    await client.query(`drop schema if exists ${FLEET['token-issuer'].database.schema} cascade`);
  } catch (error) {
    // The first run on this server has no database yet.
    if ((error as { code?: string }).code !== '3D000') throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A durable Postgres, a nats-server with file storage, and built apps, as in production, on free ports. */
export class Fleet {
  readonly secrets: Secrets = generateSecrets();
  readonly urls = {} as Record<AppName, string>;
  private readonly natsUsers = natsUsersBy(this.secrets.natsSecret);
  private readonly ports = {} as Record<AppName, number>;
  private readonly running = new Map<AppName, ServerProcess>();
  private database: DatabaseUrls;
  private postgres?: LocalServer;
  private nats: LocalServer;

  private constructor(
    private readonly folder: string,
    private readonly options: FleetOptions,
  ) {}

  static async start(
    apps: AppName[],
    progress: (message: string) => void,
    options: FleetOptions = {},
  ): Promise<Fleet> {
    const fleet = new Fleet(await mkdtemp(join(tmpdir(), 'perkway-bench-')), options);
    try {
      await fleet.launch(apps, progress);
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  /** The superuser's URL, with access to every schema. */
  get databaseUrl(): string {
    return this.database.admin;
  }

  get natsUrl(): string {
    return this.natsUsers.urlOf(BROKER_OPERATOR, this.nats.url);
  }

  /** The broker's log. */
  get brokerLog(): string {
    return readFileSync(join(this.folder, 'logs', 'nats.log'), 'utf8');
  }

  pid(app: AppName): number {
    const { pid } = this.running.get(app)!;
    return pid;
  }

  /** The CPU seconds of the database server; undefined without /proc, or if this fleet did not start the server. */
  databaseCpuSeconds(): number | undefined {
    return this.postgres && familyCpuSeconds(this.postgres.pid);
  }

  /** Stops one app. `startApp` starts it again. */
  async halt(app: AppName): Promise<void> {
    await this.running.get(app)?.stop(STOP);
  }

  async stopBroker(): Promise<void> {
    await this.nats.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.running.values()].map((app) => app.stop(STOP)));
    await this.nats?.stop();
    await this.postgres?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Calls an app with the ADMIN key and returns the JSON body. */
  readonly admin: Admin = (app, method, path, ...more) =>
    callAdmin(this.urls[app] + path, this.secrets.adminKey, method, ...more);

  /** Creates an account with a USER key. @returns the key */
  async account(id: string): Promise<string> {
    return (await new AccountSetup(this.admin, id).aKey()).key;
  }

  private async launch(apps: AppName[], progress: (message: string) => void) {
    progress(`bundling ${apps.join(', ')}`);
    const config = pathToFileURL(join(ROOT, 'rolldown.config.mjs')).href;
    const { appConfig } = (await import(config)) as { appConfig: (app: string) => BuildOptions };
    for (const app of apps) {
      const options = appConfig(app);
      await build({ ...options, cwd: ROOT, output: { ...options.output, cleanDir: false } });
    }

    progress('starting Postgres and nats-server');
    const at = (...parts: string[]) => join(this.folder, ...parts);
    const superuserPassword = this.secrets.superuserPassword;
    // BENCH_DATABASE_URL: a superuser's URL of a server to reuse, because millions of events take long to create.
    const given = this.options.server ?? process.env.BENCH_DATABASE_URL;
    if (!given)
      this.postgres = await startPostgres({
        port: 0,
        dataDir: at('postgres'),
        superuserPassword,
        durable: true,
        programs: this.options.programs,
        logFile: at('logs', 'postgres.log'),
        dieWithParent: true,
      });
    this.nats = await startNats({
      port: 0,
      storeDir: at('nats'),
      logFile: at('logs', 'nats.log'),
      moreConfiguration: this.natsUsers.configuration,
      dieWithParent: true,
    });
    if (given) await forgetAccounts(given);
    this.database = await provisionDatabase(given ?? this.postgres!.url, {
      database: DATABASE,
      passwordOf: rolePassword(given ? new URL(given).password : superuserPassword),
    });

    // All URLs first, because each app needs those of the others.
    for (const app of APPS) {
      this.ports[app] = await freePort();
      this.urls[app] = `http://127.0.0.1:${this.ports[app]}`;
    }
    for (const app of apps) {
      progress(`starting ${FLEET[app].host}`);
      await this.startApp(app);
    }
  }

  /** Runs the migrations first. */
  async startApp(app: AppName, variables: Record<string, string> = {}): Promise<void> {
    const environment = {
      PATH: process.env.PATH,
      LOG_LEVEL: 'warn',
      // Requests are counted and the counts published as always, but the limit is never reached.
      RATE_LIMIT_PER_KEY: '1000000',
      ...appEnvironment(app, {
        port: this.ports[app],
        urls: this.urls,
        database: this.database,
        natsUrl: this.natsUsers.urlOf(app, this.nats.url),
        secrets: this.secrets,
      }),
      ...variables,
    };
    const launch = (script: string, options: string[] = []) =>
      ServerProcess.launch({
        command: process.execPath,
        args: [...options, join(ROOT, 'dist', app, script)],
        env: environment,
        logFile: join(this.folder, 'logs', `${app}.log`),
        dieWithParent: true,
      });
    if ('database' in FLEET[app]) {
      const migration = await launch('migrate.js');
      const { code } = await migration.exited;
      if (code !== 0) throw new Error(`the migrations of ${app} failed:\n${migration.logTail()}`);
    }

    // BENCH_PROFILE=<folder> writes a CPU profile of each app there.
    const profile = process.env.BENCH_PROFILE;
    const server = await launch('main.js', profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []);
    this.running.set(app, server);
    const deadline = Date.now() + START_LIMIT_MS;
    // If our process has exited, another server took the port and responded.
    while (!(await this.isReady(app)) || !server.running) {
      if (!server.running || Date.now() > deadline)
        throw new Error(`${app} did not start; the end of its log:\n${server.logTail()}`);
      await sleep(50);
    }
  }

  private async isReady(app: AppName): Promise<boolean> {
    try {
      return (await fetch(`${this.urls[app]}/readyz`, { signal: AbortSignal.timeout(1_000) })).ok;
    } catch {
      return false;
    }
  }
}
