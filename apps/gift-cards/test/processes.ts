import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '@perkway/local-servers';

const ROOT = join(__dirname, '../../..');
/** Under the root, so that the bundle finds its packages. */
const FOLDER = join(ROOT, 'dist/gift-cards-test');

/** Bundles the app as the build does. */
export async function buildApp(): Promise<void> {
  const cli = join(ROOT, 'node_modules/rolldown/bin/cli.mjs');
  const child = spawn(process.execPath, [cli, '-c', 'rolldown.config.mjs', '-d', FOLDER], {
    cwd: ROOT,
    env: { ...process.env, APP: 'gift-cards' },
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text));
  child.stderr.on('data', (text: Buffer) => (output += text));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(output);
}

/** One replica as a process of its own, which can be killed. */
export class AppProcess {
  private child: ChildProcess | undefined;
  readonly output: string[] = [];
  url = '';

  constructor(private readonly environment: Record<string, string>) {}

  /** Resolves when it is ready for requests. */
  async start(): Promise<void> {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const child = spawn(process.execPath, [join(FOLDER, 'main.js')], {
      env: { PATH: process.env.PATH, ...this.environment, PORT: String(port) },
    });
    this.child = child;
    child.stdout.on('data', (text: Buffer) => this.output.push(String(text)));
    child.stderr.on('data', (text: Buffer) => this.output.push(String(text)));
    for (let turn = 0; turn < 600 && child.exitCode === null && child.signalCode === null; turn += 1) {
      const isReady = await fetch(`${this.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the app did not start: ${this.output.join('')}`);
  }

  /** As a machine that loses power takes it. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }
}
