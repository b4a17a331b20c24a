import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BareResponse } from './bare-server.js';
import type { Load, LoadResult } from './load-generator.js';

const start = (script: string, args: string[] = []): ChildProcess =>
  fork(join(import.meta.dirname, script), args, { execArgv: ['--import', 'tsx'] });

async function message<Message>(child: ChildProcess): Promise<Message> {
  const stop = new AbortController();
  const died = once(child, 'exit', { signal: stop.signal }).then(() => {
    throw new Error(`${child.spawnargs.at(-1)} ended`);
  });
  died.catch(() => undefined);
  try {
    const [received] = (await Promise.race([once(child, 'message'), died])) as [Message];
    return received;
  } finally {
    stop.abort();
  }
}

export class BareServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(...responses: BareResponse[]): Promise<BareServer> {
    const child = start('bare-server.ts', [JSON.stringify(responses)]);
    return new BareServer(child, `http://127.0.0.1:${await message<number>(child)}`);
  }

  get pid(): number {
    return this.child.pid!;
  }

  stop(): void {
    this.child.kill();
  }
}

/** A child process that runs each workload it is sent and returns the result. */
export class LoadGenerator<Given = Load, Result = LoadResult> {
  private readonly child: ChildProcess;

  constructor(script = 'load-generator.ts') {
    this.child = start(script);
  }

  get pid(): number {
    return this.child.pid!;
  }

  async run(load: Given): Promise<Result> {
    this.child.send(load as Serializable);
    const { result, error } = await message<{ result?: Result; error?: string }>(this.child);
    if (!result) throw new Error(error);
    return result;
  }

  stop(): void {
    this.child.kill();
  }
}
