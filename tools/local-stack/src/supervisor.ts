import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, LocalServer } from '@perkway/local-servers';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** Who has been up for so long starts again with the first delay. */
const STEADY_MS = 10_000;

/** The pause before the next start, from the pause before this one and how long it has been up. */
export const nextDelay = (lastDelayMs: number | undefined, upMs: number): number =>
  lastDelayMs === undefined || upMs >= STEADY_MS
    ? FIRST_DELAY_MS
    : Math.min(lastDelayMs * 2, LONGEST_DELAY_MS);

type Supervised = Pick<LocalServer, 'exited' | 'launch' | 'stop' | 'running' | 'kill'>;

/** Keeps servers running, until it stops them in the opposite order of their coming. */
export class Supervisor {
  private readonly groups: Supervised[][] = [];
  private readonly watches: Promise<void>[] = [];
  private readonly ending = new AbortController();

  constructor(private readonly print: (line: string) => void) {}

  get stopping(): boolean {
    return this.ending.signal.aborted;
  }

  /** Those of one group stop together; a later group stops before an earlier one. Call it before they start. */
  addGroup(...servers: Supervised[]): void {
    this.groups.push(servers);
  }

  /** From now on starts the server again whenever it ends. */
  watch(name: string, server: Supervised): void {
    this.watches.push(this.keep(name, server));
  }

  /** Ends everything; may be called again for what started meanwhile. */
  async stop(): Promise<void> {
    this.ending.abort();
    for (const group of this.groups.toReversed()) await Promise.all(group.map((server) => server.stop()));
    await Promise.all(this.watches);
  }

  /** SIGKILL to all that run; what waits in `stop` goes on at once. */
  async hurry(): Promise<void> {
    await Promise.all(this.groups.flat().map((server) => server.kill()));
  }

  private async keep(name: string, server: Supervised): Promise<void> {
    let delay: number | undefined;
    let since = Date.now();
    let how: Exit | Error = await server.exited;
    while (!this.stopping) {
      delay = nextDelay(delay, Date.now() - since);
      this.print(`${name} ended (${describe(how)}); starting it again in ${delay} ms.`);
      await sleep(delay, undefined, { signal: this.ending.signal }).catch(() => {});
      if (this.stopping) return;
      since = Date.now();
      how = await this.runAgain(server);
    }
  }

  /** Settles when the server has ended again. */
  private async runAgain(server: Supervised): Promise<Exit | Error> {
    try {
      const { exited } = await server.launch();
      // A stop that came while it was starting found nothing to stop.
      if (this.stopping) await server.stop();
      return await exited;
    } catch (error) {
      return error as Error;
    }
  }
}

const describe = (how: Exit | Error): string =>
  how instanceof Error ? how.message : (how.signal ?? `code ${how.code}`);
