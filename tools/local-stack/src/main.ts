import { setTimeout as sleep } from 'node:timers/promises';
import { readCommandLine } from '@perkway/command-line';
import { DataFolder } from './data-folder.js';
import { describeStack } from './report.js';
import { readSettings, StackError } from './settings.js';
import { Stack, type Progress } from './stack.js';

const USAGE = `npm start -- [--fresh]

Builds and starts all apps with their own database, broker and demo catalogue. Ctrl-C stops them.

  --fresh  removes all data first

Set PORT_BASE (default: 4000), DATA_DIR and STACK_FILE to run a second stack, and DATABASE_URL and NATS_URL to use running
servers. See docs/local-stack.md.`;

/** The terminal and npm both pass on Ctrl-C, so one keystroke arrives twice within moments. */
const SAME_KEYSTROKE_MS = 500;
const PARENT_POLL_MS = 500;
/**
 * If a canceled start has not ended by then (for example during a call without a response), stop without waiting for
 * it.
 */
const START_END_LIMIT_MS = 10_000;

const print = (line: string) => process.stdout.write(`${line}\n`);

/** On a terminal, a step is one line that is overwritten; elsewhere it is a line for each tenth. */
function terminalProgress(): Progress {
  let lastTenth = -1;
  let open = false;
  const closeLine = () => {
    if (open) process.stdout.write('\n');
    open = false;
  };
  return {
    line: (text) => {
      closeLine();
      print(text);
    },
    step: (what, done, total) => {
      const text = `${what}: ${done} of ${total}`;
      if (process.stdout.isTTY) {
        process.stdout.write(`\r${text}`);
        open = true;
        if (done === total) closeLine();
      } else {
        const tenth = Math.floor((done * 10) / total);
        if (tenth !== lastTenth) print(text);
        lastTenth = tenth;
      }
    },
  };
}

/** Calls back when npm, our parent, is gone: after that nothing passes on Ctrl-C. */
function whenOrphaned(callback: () => void): void {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, PARENT_POLL_MS);
  timer.unref();
}

async function run(): Promise<number> {
  // A closed pipe or terminal (`npm start | head`) must not crash the stack.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const { values } = readCommandLine(USAGE, { options: { fresh: { type: 'boolean', default: false } } });
  const settings = readSettings(values.fresh, process.env, process.cwd());
  const folder = await DataFolder.open(settings, print);
  const progress = terminalProgress();
  const stack = new Stack(settings, folder, progress);

  let firstSignal: number | undefined;
  const interrupted = new Promise<void>((resolve) => {
    const interrupt = () => {
      if (firstSignal === undefined) {
        firstSignal = Date.now();
        progress.line('Stopping (press Ctrl-C again to stop at once) ...');
        resolve();
      } else if (Date.now() - firstSignal > SAME_KEYSTROKE_MS) void stack.supervisor.killAll();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
    whenOrphaned(interrupt);
  });
  let failure: unknown;
  const failed = new Promise<void>((resolve) => {
    for (const event of ['uncaughtException', 'unhandledRejection'] as const)
      process.on(event, (error: unknown) => {
        failure ??= error;
        resolve();
      });
  });

  const begun = Date.now();
  const started = stack.start();
  const ready = started
    .then(async (running) => {
      if (firstSignal !== undefined) return;
      await folder.publish(running);
      print(describeStack(running, folder));
      print(`  Ready after ${((Date.now() - begun) / 1000).toFixed(1)} s.`);
    })
    .catch((error: unknown) => {
      if (firstSignal === undefined) failure ??= error;
    });
  await Promise.race([interrupted, failed, ready.then(() => (failure ? undefined : new Promise(() => {})))]);
  await stack.stop();
  // Wait for the start in progress to notice the stop.
  await Promise.race([ready, sleep(START_END_LIMIT_MS)]);
  await stack.stop();
  folder.release();
  if (failure) throw failure;
  return 0;
}

try {
  process.exit(await run());
} catch (error) {
  const isExpected = error instanceof StackError || (error as Error)?.name === 'DemoDataError';
  process.stderr.write(`${isExpected ? (error as Error).message : ((error as Error)?.stack ?? error)}\n`);
  process.exit(1);
}
