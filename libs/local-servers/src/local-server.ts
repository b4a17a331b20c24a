import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, ServerProcess } from './server-process.js';

export interface ServerSpec {
  /** The name of the server in messages. */
  title: string;
  port: () => number;
  url: () => string;
  spawn: () => Promise<ServerProcess>;
  isReady: (process: ServerProcess) => Promise<boolean>;
  /** Whether to start again after the process exited before it was ready. */
  mayRetry: (log: string) => boolean | Promise<boolean>;
  stopSteps: Parameters<ServerProcess['stop']>[0];
  startTimeoutMs?: number;
  /** Called with the pid of each new process, before it is ready. */
  onSpawn?: (pid: number) => void;
}

const POLL_MS = 10;
const RETRY_MS = 100;

/** A server that can be started, killed, paused and restarted on the same port and data. */
export class LocalServer {
  private process?: ServerProcess;
  private launching?: Promise<ServerProcess>;
  private stopping = false;

  constructor(private readonly spec: ServerSpec) {}

  get pid(): number {
    if (!this.process) throw new Error(`${this.spec.title} was not started`);
    return this.process.pid;
  }

  get port(): number {
    return this.spec.port();
  }

  get url(): string {
    return this.spec.url();
  }

  get running(): boolean {
    return this.process?.running ?? false;
  }

  /** Resolves when the current process exits. Read it again after each restart. */
  get exited(): Promise<Exit> {
    if (!this.process) throw new Error(`${this.spec.title} was not started`);
    return this.process.exited;
  }

  /** Starts the process without waiting until it is ready. */
  async launch(): Promise<ServerProcess> {
    this.launching = this.spec.spawn();
    const process = await this.launching;
    this.process = process;
    this.spec.onSpawn?.(process.pid);
    return process;
  }

  /** Resolves when the server is ready. Rejects with the end of its log if it does not start. */
  async start(): Promise<void> {
    if (this.running) return;
    this.stopping = false;
    const deadline = Date.now() + (this.spec.startTimeoutMs ?? 30_000);
    for (;;) {
      const process = await this.launch();
      while (process.running && Date.now() < deadline && !(await this.spec.isReady(process)))
        await sleep(POLL_MS);
      if (process.running && Date.now() < deadline) return;
      const died = !process.running;
      if (this.stopping) throw new Error(`${this.spec.title} was stopped before it was ready`);
      await process.stop([{ signal: 'SIGKILL', graceMs: 5_000 }]);
      const log = process.logTail();
      if (died && Date.now() < deadline && (await this.spec.mayRetry(log))) {
        await sleep(RETRY_MS);
        continue;
      }
      throw new Error(`${this.spec.title} did not start${log === '' ? '' : `; the end of its log:\n${log}`}`);
    }
  }

  /** Stops the server gracefully, then by force. Also cancels a start in progress. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.launching?.catch(() => {});
    await this.process?.stop(this.spec.stopSteps);
  }

  /** Sends SIGKILL, like a crash. */
  async kill(): Promise<void> {
    this.process?.signal('SIGKILL');
    await this.process?.exited;
  }

  /** Sends SIGSTOP: connections stay open and nothing responds. */
  pause(): void {
    this.process?.signal('SIGSTOP');
  }

  resume(): void {
    this.process?.signal('SIGCONT');
  }

  /** Stops the server if it runs, and starts it on the same port and data. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }
}
