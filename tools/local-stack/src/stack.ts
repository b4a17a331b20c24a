import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BROKER_OPERATOR, type AppName } from '@perkway/domain';
import {
  appEnvironment,
  APPS,
  databaseUrls,
  FLEET,
  loadSecrets,
  portOf,
  rolePassword,
  type Environment,
  type PortOwner,
  type StackFile,
} from '@perkway/fleet';
import {
  findNatsServer,
  isPortFree,
  LocalServer,
  natsUsersBy,
  prepareNats,
  preparePostgres,
  provisionDatabase,
  ServerProcess,
  type ServerSpec,
} from '@perkway/local-servers';
import { applyCatalogue } from './catalogue/apply-catalogue.js';
import { buildApps, existingApps } from './build.js';
import { publishDemoHistory } from './demo-history.js';
import type { DataFolder } from './data-folder.js';
import { checkDatabase, checkNats, dropSchemas, dropStreams } from './external-servers.js';
import { appScript, DEMO, ROOT } from './paths.js';
import { databaseName, StackError, type Settings } from './settings.js';
import { Supervisor } from './supervisor.js';

export interface Progress {
  /** Prints a line. */
  line: (text: string) => void;
  /** Shows the progress of a long step and overwrites the previous call's. */
  step: (what: string, done: number, total: number) => void;
}

export type RunningStack = Omit<StackFile, 'pids' | 'dataDir' | 'logDir'>;

const MIGRATION_LIMIT_MS = 300_000;
const READY_LIMIT_MS = 180_000;
const READY_POLL_MS = 100;
/** Starting Node takes about a second of CPU time, so more would only slow each other down. */
const CONCURRENT_MIGRATIONS = 2;

/** Apps trust forwarded headers from this machine, as they trust those of the proxy in production. */
const TRUSTED_PROXIES = '127.0.0.0/8,::1/128';

/**
 * Returns our environment without the variables that apps get from the stack, because our `DATABASE_URL` is the
 * superuser's.
 */
function inheritedEnvironment(environment: Omit<Environment, 'port'>): NodeJS.ProcessEnv {
  const theirs = new Set(
    APPS.flatMap((app) => Object.keys(appEnvironment(app, { ...environment, port: 0 }))),
  );
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !theirs.has(name) && !name.startsWith('npm_')),
  );
}

/** Everything that `npm start` runs. */
export class Stack {
  readonly supervisor: Supervisor;
  private readonly ending = new AbortController();
  private readonly apps = existingApps();

  constructor(
    private readonly settings: Settings,
    private readonly folder: DataFolder,
    private readonly progress: Progress,
  ) {
    this.supervisor = new Supervisor(progress.line);
  }

  /** Resolves when every app is ready and has the demo data. Stop the stack if it rejects. */
  async start(): Promise<RunningStack> {
    const { settings, folder, progress } = this;
    await this.checkPorts();
    if (settings.databaseUrl) await checkDatabase(settings.databaseUrl);
    if (settings.natsUrl) await checkNats(settings.natsUrl);
    const natsBinary = settings.natsUrl ? undefined : await this.findNats();
    this.continueOrThrow();

    folder.prepare({ fresh: settings.fresh });
    const built = await buildApps(this.apps);
    if (built.length > 0) progress.line(`Built ${built.join(', ')}.`);
    this.continueOrThrow();

    const secrets = await loadSecrets(folder.path('secrets.json'));
    const [adminUrl, natsUrl] = await Promise.all([
      settings.databaseUrl ?? this.startPostgres(secrets.superuserPassword),
      settings.natsUrl ?? this.startNats(natsBinary!, secrets.natsSecret),
    ]);
    this.continueOrThrow();

    // Roles belong to the whole server, so two stacks on one server must set the same passwords.
    const passwordOf = rolePassword(new URL(adminUrl).password);
    const provisioning = { database: databaseName(adminUrl), passwordOf };
    if (settings.fresh && settings.databaseUrl) await dropSchemas(databaseUrls(adminUrl, provisioning).admin);
    if (settings.fresh && settings.natsUrl) await dropStreams(settings.natsUrl);
    const database = await provisionDatabase(adminUrl, provisioning);
    this.continueOrThrow();

    const urls = Object.fromEntries(
      APPS.map((app) => [app, `http://127.0.0.1:${portOf(settings.portBase, app)}`]),
    ) as Record<AppName, string>;
    const common = { urls, database, secrets, trustedProxies: TRUSTED_PROXIES };
    const inherited = inheritedEnvironment({ ...common, natsUrl });
    // An external broker manages its own users.
    const natsUrlOf = (user: string) =>
      settings.natsUrl ?? natsUsersBy(secrets.natsSecret).urlOf(user, natsUrl);
    const environmentOf = (app: AppName): NodeJS.ProcessEnv => ({
      ...inherited,
      NODE_ENV: 'production',
      ...appEnvironment(app, {
        ...common,
        natsUrl: natsUrlOf(app),
        port: portOf(settings.portBase, app),
      }),
    });
    await this.migrate(environmentOf);
    await this.startApps(environmentOf, urls);
    this.continueOrThrow();

    const hosts = Object.fromEntries(this.apps.map((app) => [FLEET[app].host, urls[app]]));
    const { accounts } = await applyCatalogue({
      directory: DEMO,
      hosts,
      adminKey: secrets.adminKey,
      stateFile: folder.path('demo-state.json'),
      onProgress: ({ done, total }) => {
        if (total > 0) progress.step('Applying the demo data', done, total);
      },
    });
    this.continueOrThrow();
    await this.publishHistory(natsUrlOf(BROKER_OPERATOR));
    this.continueOrThrow();
    return {
      hosts,
      adminKey: secrets.adminKey,
      databaseUrl: database.admin,
      natsUrl: natsUrlOf(BROKER_OPERATOR),
      accounts,
    };
  }

  /** Publishes the demo history. A failure does not stop the start. */
  private async publishHistory(natsUrl: string): Promise<void> {
    try {
      const stateFile = this.folder.path('demo-history.json');
      const events = await publishDemoHistory({ natsUrl, stateFile });
      if (events > 0)
        this.progress.line(
          `Published ${events.toLocaleString('en')} events of demo history; analytics is counting them.`,
        );
    } catch (error) {
      this.progress.line(`Could not publish the demo history: ${(error as Error).message}.`);
    }
  }

  /** Stops everything that this stack started, and cancels a start in progress. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.supervisor.stop();
  }

  private continueOrThrow(): void {
    if (this.ending.signal.aborted) throw new Error('the stack was stopped while it was starting');
  }

  private async checkPorts(): Promise<void> {
    const { portBase, databaseUrl, natsUrl } = this.settings;
    const owners: PortOwner[] = [
      ...this.apps,
      ...(databaseUrl ? [] : (['postgres'] as const)),
      ...(natsUrl ? [] : (['nats'] as const)),
    ];
    const free = await Promise.all(owners.map((owner) => isPortFree(portOf(portBase, owner))));
    const busy = owners.filter((_, index) => !free[index]);
    if (busy.length === 0) return;
    const ports = busy.map((owner) => `${portOf(portBase, owner)} (for ${owner})`).join(', ');
    throw new StackError(
      busy.length === 1
        ? `Port ${ports} is in use. Free it, or set PORT_BASE (now ${portBase}) to move all ports.`
        : `Ports ${ports} are in use. Free them, or set PORT_BASE (now ${portBase}) to move all ports.`,
    );
  }

  private async findNats(): Promise<string> {
    try {
      return await findNatsServer({ onProgress: this.progress.line, signal: this.ending.signal });
    } catch (error) {
      throw new StackError(`${(error as Error).message}.`, { cause: error });
    }
  }

  private async startPostgres(superuserPassword: string): Promise<string> {
    const server = await preparePostgres({
      port: portOf(this.settings.portBase, 'postgres'),
      dataDir: this.folder.path('postgres'),
      superuserPassword,
      durable: true,
      logFile: this.folder.logFile('postgres'),
      onSpawn: (pid) => this.folder.recordPid('postgres', pid),
    });
    return this.startServer('postgres', server);
  }

  private async startNats(binary: string, secret: string): Promise<string> {
    const server = await prepareNats({
      port: portOf(this.settings.portBase, 'nats'),
      storeDir: this.folder.path('nats'),
      logFile: this.folder.logFile('nats'),
      moreConfiguration: natsUsersBy(secret).configuration,
      binary,
      onSpawn: (pid) => this.folder.recordPid('nats', pid),
    });
    return this.startServer('nats', server);
  }

  private async startServer(name: string, server: LocalServer): Promise<string> {
    this.continueOrThrow();
    this.supervisor.addGroup(server);
    await startOrExplain(server);
    this.supervisor.watch(name, server);
    return server.url;
  }

  private async migrate(environmentOf: (app: AppName) => NodeJS.ProcessEnv): Promise<void> {
    const waiting = this.apps.filter((app) => existsSync(appScript(app, 'migrate')));
    const worker = async () => {
      for (let app = waiting.shift(); app; app = waiting.shift()) {
        this.continueOrThrow();
        const process = await ServerProcess.launch({
          ...nodeRunning(app, 'migrate', environmentOf(app)),
          logFile: this.folder.logFile(app),
        });
        const steps = [
          { signal: 'SIGTERM', graceMs: 5_000 } as const,
          { signal: 'SIGKILL', graceMs: 0 } as const,
        ];
        const end = () => void process.stop(steps);
        const timer = setTimeout(end, MIGRATION_LIMIT_MS);
        this.ending.signal.addEventListener('abort', end);
        if (this.ending.signal.aborted) end();
        const { code } = await process.exited;
        clearTimeout(timer);
        this.ending.signal.removeEventListener('abort', end);
        this.continueOrThrow();
        if (code !== 0) throw new StackError(`The migrations of ${app} failed: ${process.logTail()}`);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_MIGRATIONS }, worker));
  }

  private async startApps(
    environmentOf: (app: AppName) => NodeJS.ProcessEnv,
    urls: Record<AppName, string>,
  ): Promise<void> {
    this.continueOrThrow();
    const servers = this.apps.map((app) => {
      const logFile = this.folder.logFile(app);
      const spec: ServerSpec = {
        title: app,
        port: () => portOf(this.settings.portBase, app),
        url: () => urls[app],
        spawn: () => ServerProcess.launch({ ...nodeRunning(app, 'main', environmentOf(app)), logFile }),
        isReady: () => isReady(urls[app]),
        mayRetry: () => false,
        startTimeoutMs: READY_LIMIT_MS,
        onSpawn: (pid) => this.folder.recordPid(app, pid),
        // Apps drain for at most ten seconds.
        stopSteps: [
          { signal: 'SIGTERM', graceMs: 11_000 },
          { signal: 'SIGKILL', graceMs: 5_000 },
        ],
      };
      return { app, server: new LocalServer(spec) };
    });
    this.supervisor.addGroup(...servers.map(({ server }) => server));
    await Promise.all(
      servers.map(async ({ app, server }) => {
        await startOrExplain(server);
        this.supervisor.watch(app, server);
      }),
    );
  }
}

async function startOrExplain(server: LocalServer): Promise<void> {
  try {
    await server.start();
  } catch (error) {
    throw new StackError((error as Error).message, { cause: error });
  }
}

const nodeRunning = (app: AppName, entry: 'main' | 'migrate', env: NodeJS.ProcessEnv) => ({
  command: process.execPath,
  args: ['--enable-source-maps', appScript(app, entry)],
  cwd: ROOT,
  env,
});

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    if (response.ok) return true;
  } catch {
    // Not ready yet.
  }
  await sleep(READY_POLL_MS);
  return false;
}
