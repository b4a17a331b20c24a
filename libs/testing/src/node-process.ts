import type { AppName } from '@perkway/domain';
import { bundleApp, freePort } from '@perkway/local-servers';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { http } from './http.js';
import { sharedRunFolder } from './test-servers.js';
import { waitFor } from './wait-for.js';

const ROOT = join(__dirname, '../../..');

export interface ProcessOptions {
  /** Defaults to the root of the repository. */
  cwd?: string;
  /** The whole environment, except for PATH. */
  env?: NodeJS.ProcessEnv;
}

/** A Node process that a test can end with any signal. */
export class NodeProcess {
  /** Everything written to standard output and standard error so far. */
  output = '';
  /** Resolves with the exit code (-1 if a signal ended the process) when all output has arrived. */
  readonly ended: Promise<number>;
  private readonly child: ChildProcess;

  constructor(args: string[], { cwd = ROOT, env = {} }: ProcessOptions = {}) {
    this.child = spawn(process.execPath, args, {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.ended = once(this.child, 'close').then(([code]) => (code as number | null) ?? -1);
  }

  get pid(): number {
    return this.child.pid!;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits like `waitFor`, but stops when the process ends. The error includes the output of the process. */
  async until(condition: () => boolean | Promise<boolean>, what: string, deadlineMs = 45_000): Promise<void> {
    let holds = false;
    const holdsOrEnded = async () => {
      holds = await Promise.resolve()
        .then(condition)
        .catch(() => false);
      return holds || this.hasEnded;
    };
    const late = await waitFor(holdsOrEnded, what, deadlineMs).catch((error: Error) => error.message);
    if (!holds)
      throw new Error(
        `${late ?? `The process ended while waiting for: ${what}`}; its output:\n${this.output}`,
      );
  }

  /** Sends the signal unless the process has ended, and returns the exit code when it has. */
  kill(signal: NodeJS.Signals): Promise<number> {
    if (!this.hasEnded) this.child.kill(signal);
    return this.ended;
  }
}

/** Runs Node until it exits. */
export async function runNode(
  args: string[],
  options?: ProcessOptions,
): Promise<{ exitCode: number; output: string }> {
  const ran = new NodeProcess(args, options);
  return { exitCode: await ran.ended, output: ran.output };
}

/** An app in its own process. */
export class AppProcess extends NodeProcess {
  private constructor(
    private readonly main: string,
    readonly url: string,
    environment: Record<string, string>,
  ) {
    super([main], { env: environment });
  }

  /** Starts a bundle, by default on a free port. The app is not ready yet. */
  static async spawn(main: string, environment: Record<string, string>, port?: number): Promise<AppProcess> {
    port ??= await freePort();
    const url = `http://${environment.HOST ?? '127.0.0.1'}:${port}`;
    return new AppProcess(main, url, { ...environment, PORT: String(port) });
  }

  async ready(): Promise<this> {
    await this.until(
      // If our process has ended, another server took the port and responded.
      async () => (await http(this).get('/readyz')).status === 200 && !this.hasEnded,
      `${this.main} ready`,
    );
    return this;
  }
}

/** A bundled app, which can run as several processes. */
export class BundledApp {
  private constructor(private readonly folder: string) {}

  /** Bundles the app as the build does, once per test run. */
  static async build(app: AppName | 'perkway'): Promise<BundledApp> {
    const folder = await sharedRunFolder(`bundle-${app}`, (draft) => bundleApp(app, draft));
    return new BundledApp(join(folder, app));
  }

  /** Starts a replica on a free port. It is not ready yet. */
  spawn(environment: Record<string, string>): Promise<AppProcess> {
    return AppProcess.spawn(this.path('main'), environment);
  }

  /** The file of the app, or of its migration job. */
  path(entry: 'main' | 'migrate'): string {
    return join(this.folder, `${entry}.js`);
  }
}
