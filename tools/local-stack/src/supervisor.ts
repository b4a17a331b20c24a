import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, LocalServer } from '@perkway/local-servers';

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** After running this long, a server restarts with the first delay again. */
const STEADY_MS = 10_000;

/** Returns the delay before the next restart, given the previous delay and the run time. */
export const nextDelay = (lastDelayMs: number | undefined, upMs: number): number =>
  lastDelayMs === undefined || upMs >= STEADY_MS ? FIRST_DELAY_MS : Math.min(lastDelayMs * 2, MAX_DELAY_MS);

type Supervised = Pick<LocalServer, 'exited' | 'launch' | 'stop' | 'running' | 'kill'>;

/** Keeps servers running, and stops them in reverse order of starting. */
export class Supervisor {
  private readonly groups: Supervised[][] = [];
  private readonly watches: Promise<void>[] = [];
  private readonly ending = new AbortController();

  constructor(private readonly print: (line: string) => void) {}

  get stopping(): boolean {
    return this.ending.signal.aborted;
  }

  /** Servers of a group stop together; a later group stops before an earlier one. Call it before they start. */
  addGroup(...servers: Supervised[]): void {
    this.groups.push(servers);
  }

  /** Restarts the server whenever it exits from now on. */
  watch(name: string, server: Supervised): void {
    this.watches.push(this.keep(name, server));
  }

  /** Stops everything. May be called again for servers that started meanwhile. */
  async stop(): Promise<void> {
    this.ending.abort();
    for (const group of this.groups.toReversed()) await Promise.all(group.map((server) => server.stop()));
    await Promise.all(this.watches);
  }

  /** Kills all servers, so that a pending `stop` ends at once. */
  async killAll(): Promise<void> {
    await Promise.all(this.groups.flat().map((server) => server.kill()));
  }

  private async keep(name: string, server: Supervised): Promise<void> {
    let delay: number | undefined;
    let since = Date.now();
    let how: Exit | Error = await server.exited;
    while (!this.stopping) {
      delay = nextDelay(delay, Date.now() - since);
      this.print(`${name} exited (${describe(how)}); restarting it in ${delay} ms.`);
      await sleep(delay, undefined, { signal: this.ending.signal }).catch(() => {});
      if (this.stopping) return;
      since = Date.now();
      how = await this.runAgain(server);
    }
  }

  /** Restarts the server. Resolves when it has exited again, or with the error if it could not be launched. */
  private async runAgain(server: Supervised): Promise<Exit | Error> {
    try {
      const { exited } = await server.launch();
      return await exited;
    } catch (error) {
      return error as Error;
    }
  }
}

const describe = (how: Exit | Error): string =>
  how instanceof Error ? how.message : (how.signal ?? `code ${how.code}`);
