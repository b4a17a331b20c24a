import { isRecord } from '@perkway/domain';
import { FLEET, type DatabaseApp } from '@perkway/fleet';
import {
  AppProcess,
  BundledApp,
  closeAll,
  http,
  NodeProcess,
  runNode,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  untilServed,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { freePort } from '@perkway/local-servers';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

export const ADMIN_KEY = testSecrets().adminKey;
export const CONSOLE = 'http://console.perkway.test';

export interface Browser {
  /** Headers that the console's pages send, with the session cookie. */
  headers: Record<string, string>;
  cookie: string;
}

/** Returns a database with the tables of the console and of other apps. Test files with the same apps share a template. */
const fleetDatabase = (apps: DatabaseApp[]): Promise<TestDatabase> =>
  testDatabase(
    'console',
    (_, urls) =>
      Promise.all(
        [...new Set<DatabaseApp>(['console', ...apps])].map(async (app) => {
          const job = (await BundledApp.build(app)).path('migrate');
          const env = testEnvironment(app, { database: { urls } });
          const { exitCode, output } = await runNode([job], { env });
          if (exitCode !== 0) throw new Error(output);
        }),
      ),
    { template: ['fleet', ...apps].join(' ') },
  );

/** The console and the other apps that a test needs, as deployed. */
export class Fleet {
  database: TestDatabase;
  nats: TestNats;
  /** Not started if the console runs as a process. */
  console: LaunchedApp;
  readonly urls: Partial<Record<DatabaseApp, string>> = {};
  private readonly processes = new Map<DatabaseApp, AppProcess>();
  private variables: Record<string, string> = {};

  async start(apps: DatabaseApp[], variables: Record<string, string> = {}): Promise<this> {
    this.variables = variables;
    [this.database, this.nats] = await Promise.all([fleetDatabase(apps), testNats()]);
    const ports = await Promise.all(apps.map(() => freePort()));
    apps.forEach((app, index) => (this.urls[app] = `http://127.0.0.1:${ports[index]}`));
    await Promise.all(
      apps.map(async (app, index) => {
        const main = (await BundledApp.build(app)).path('main');
        const process = await AppProcess.spawn(main, this.environmentOf(app), ports[index]);
        this.processes.set(app, process);
        await process.ready();
      }),
    );
    if (!apps.includes('console')) this.console = await this.launch();
    return this;
  }

  /** Environment of a console replica in its own process. */
  consoleEnvironment(): Record<string, string> {
    return { ...testEnvironment('console', this.given), CONSOLE_URL: CONSOLE, ...this.variables };
  }

  /** Starts another replica of the console. */
  async launch(variables: Record<string, string> = {}): Promise<LaunchedApp> {
    // Imported here, because browser tests do not need the sources of the console.
    const { launchConsole } = await import('./launch');
    return launchConsole(this.given, { CONSOLE_URL: CONSOLE, ...this.variables, ...variables });
  }

  process(app: DatabaseApp): AppProcess {
    return this.processes.get(app)!;
  }

  admin(app: DatabaseApp) {
    return http({ url: this.urls[app]! }, { key: ADMIN_KEY });
  }

  /** Creates an account with a key. */
  async anAccount(role = 'USER'): Promise<{ account: string; keyId: string; key: string }> {
    const account = `account-${randomBytes(4).toString('hex')}`;
    const admin = this.admin('token-issuer');
    const path = `/admin/accounts/${account}`;
    await untilServed(() => admin.put(path).send({ name: `Name of ${account}` }));
    const { body } = await untilServed(() => admin.post(`${path}/keys`).send({ role }));
    if (!isRecord(body) || typeof body.key !== 'string') throw new Error('could not create a key');
    return { account, keyId: String(body.id), key: body.key };
  }

  /** Calls as a page of the console does: from its origin, and signed in if there is a cookie. */
  page(cookie?: string, console: { url: string } = this.console) {
    return http(console, { origin: CONSOLE, ...(cookie === undefined ? {} : { cookie }) });
  }

  /** Signs in and returns the session cookie. */
  async signIn(apiKey: string, console: { url: string } = this.console): Promise<string> {
    const page = this.page(undefined, console);
    const response = await untilServed(() => page.post('/api/session').send({ apiKey }));
    if (response.status !== 200) throw new Error(`signing in returned ${response.status}: ${response.text}`);
    return cookieOf(response);
  }

  async close(): Promise<void> {
    const processes = [...this.processes.values()].map((process) => process.kill('SIGTERM'));
    await closeAll(this.console, { close: () => Promise.all(processes) }, this.database, this.nats);
  }

  private get given() {
    return {
      database: this.database,
      nats: this.nats,
      urls: this.urls,
      trustedProxies: '127.0.0.0/8',
    };
  }

  private environmentOf(app: DatabaseApp): Record<string, string> {
    return {
      ...testEnvironment(app, this.given),
      [FLEET[app].urlVariable]: this.urls[app]!,
      ...(app === 'console' ? this.variables : {}),
    };
  }
}

/** Returns `name=value` of the cookie that a response sets. */
export function cookieOf({ headers }: { headers: Record<string, unknown> }): string {
  const [set] = headers['set-cookie'] as unknown as string[];
  return set!.split(';', 1)[0]!;
}

/** A provider (see `oidc-provider.mjs`) and the environment that connects the console to it. */
export class OpenIdProvider {
  private constructor(
    private readonly port: number,
    private readonly process?: NodeProcess,
  ) {}

  /** Starts it on a fixed port, so that the console can be configured before the provider runs. */
  static async reserve(): Promise<OpenIdProvider> {
    return new OpenIdProvider(await freePort());
  }

  get variables(): Record<string, string> {
    return {
      OIDC_ISSUER: `http://127.0.0.1:${this.port}`,
      OIDC_CLIENT_ID: 'perkway-console',
      OIDC_CLIENT_SECRET: 'a-secret-that-only-the-two-of-them-know',
      OIDC_LABEL: 'Ostervale accounts',
    };
  }

  async start(consoleUrl: string): Promise<OpenIdProvider> {
    const started = new NodeProcess([
      join(__dirname, 'oidc-provider.mjs'),
      String(this.port),
      `${consoleUrl}/api/oidc/callback`,
    ]);
    await started.until(() => started.output.includes('listening'), 'the provider');
    return new OpenIdProvider(this.port, started);
  }

  async stop(): Promise<void> {
    await this.process?.kill('SIGTERM');
  }
}
