import { freePort } from '@perkway/local-servers';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { http } from './http.js';
import { runFolder } from './test-servers.js';
import { waitFor } from './wait-for.js';

const ROOT = join(__dirname, '../../..');

export interface ProcessOptions {
  /** The root of the repository, if not given. */
  cwd?: string;
  /** All of its environment, but for PATH. */
  env?: NodeJS.ProcessEnv;
}

/** Node as a process of its own, which a test can end by any signal. */
export class NodeProcess {
  /** All that it has written. */
  output = '';
  /** Its exit code, or -1 where a signal ended it; when all of its output is there. */
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

  /** Waits as `waitFor` does, but no longer than the process lives; what it wrote is in the error. */
  async until(condition: () => boolean | Promise<boolean>, what: string, deadlineMs = 45_000): Promise<void> {
    let holds = false;
    const holdsOrEnded = async () => {
      holds = await Promise.resolve()
        .then(condition)
        .catch(() => false);
      return holds || this.hasEnded;
    };
    const late = await waitFor(holdsOrEnded, what, deadlineMs).catch((error: Error) => error.message);
    if (!holds) throw new Error(`${late ?? `it ended before this: ${what}`}; it wrote:\n${this.output}`);
  }

  /** Its exit code, when it has ended; it may have done so already. */
  kill(signal: NodeJS.Signals): Promise<number> {
    if (!this.hasEnded) this.child.kill(signal);
    return this.ended;
  }
}

/** Runs Node until it ends by itself. */
export async function runNode(
  args: string[],
  options?: ProcessOptions,
): Promise<{ exitCode: number; output: string }> {
  const ran = new NodeProcess(args, options);
  return { exitCode: await ran.ended, output: ran.output };
}

/** An app as a process of its own. */
export class AppProcess extends NodeProcess {
  private constructor(
    private readonly main: string,
    readonly url: string,
    environment: Record<string, string>,
  ) {
    super([main], { env: environment });
  }

  /** Runs a bundle on a free port, if none is given. It is not ready yet. */
  static async spawn(main: string, environment: Record<string, string>, port?: number): Promise<AppProcess> {
    port ??= await freePort();
    const url = `http://${environment.HOST ?? '127.0.0.1'}:${port}`;
    return new AppProcess(main, url, { ...environment, PORT: String(port) });
  }

  async ready(): Promise<this> {
    await this.until(
      // Whoever else listens there is not meant.
      async () => (await http(this).get('/readyz')).status === 200 && !this.hasEnded,
      `${this.main} ready`,
    );
    return this;
  }
}

/** An app as it is deployed: processes of one bundle. */
export class BundledApp {
  private constructor(private readonly folder: string) {}

  /** Bundles the app as the build does, beside what other tests bundle at the same time. */
  static async build(app: string): Promise<BundledApp> {
    const folder = runFolder(`bundle-${app}`);
    // What is not bundled is found beside it.
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const bundle = join(folder, 'dist');
    const { exitCode, output } = await runNode(
      [join(ROOT, 'node_modules/rolldown/bin/cli.mjs'), '-c', 'rolldown.config.mjs', '-d', bundle],
      { env: { APP: app } },
    );
    if (exitCode !== 0) throw new Error(output);
    return new BundledApp(bundle);
  }

  /** A replica on a port of its own, which is not ready yet. */
  spawn(environment: Record<string, string>): Promise<AppProcess> {
    return AppProcess.spawn(this.path('main'), environment);
  }

  /** Of the app, or of the job that migrates its schema. */
  path(entry: 'main' | 'migrate'): string {
    return join(this.folder, `${entry}.js`);
  }
}
