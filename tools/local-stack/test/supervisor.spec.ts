import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, LocalServer, ServerProcess } from '@perkway/local-servers';
import { waitFor } from '@perkway/testing';
import { nextDelay, Supervisor } from '../src/supervisor.js';

describe('nextDelay', () => {
  it('doubles from 100 ms to 5 s and starts over after ten seconds of running', () => {
    const delays: number[] = [];
    for (let delay: number | undefined; delays.length < 8; delays.push(delay)) delay = nextDelay(delay, 50);
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(nextDelay(5000, 9_999)).toBe(5000);
    expect(nextDelay(5000, 10_000)).toBe(100);
  });
});

describe('Supervisor', () => {
  let folder: string;
  let lines: string[];
  let supervisor: Supervisor;
  const pids: number[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'perkway-supervisor-'));
    lines = [];
    supervisor = new Supervisor((line) => lines.push(line));
  });
  afterEach(async () => {
    await supervisor.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const server = (
    script: string,
    stopSteps: { signal: NodeJS.Signals; graceMs: number }[],
    spawnDelayMs = 0,
  ) =>
    new LocalServer({
      title: 'sleeper',
      port: () => 0,
      url: () => '',
      spawn: async () => {
        await sleep(spawnDelayMs);
        return ServerProcess.launch({
          command: 'sh',
          args: ['-c', script],
          logFile: join(folder, 'log'),
          dieWithParent: true,
        });
      },
      isReady: async () => true,
      mayRetry: () => false,
      onSpawn: (pid) => pids.push(pid),
      stopSteps,
    });
  const STOP_STEPS = [
    { signal: 'SIGTERM', graceMs: 5_000 },
    { signal: 'SIGKILL', graceMs: 0 },
  ] as const;

  it('restarts a server that exits, but not after stop', async () => {
    const sleeper = server('exec sleep 60', [...STOP_STEPS]);
    supervisor.addGroup(sleeper);
    await sleeper.start();
    supervisor.watch('sleeper', sleeper);
    const first = sleeper.pid;

    process.kill(first, 'SIGKILL');
    await waitFor(() => sleeper.running && sleeper.pid !== first, 'a second sleeper');
    expect(lines).toEqual(['sleeper exited (SIGKILL); restarting it in 100 ms.']);
    const second = sleeper.pid;
    process.kill(second, 'SIGTERM');
    await waitFor(() => sleeper.running && sleeper.pid !== second, 'a third sleeper');
    expect(lines[1]).toBe('sleeper exited (SIGTERM); restarting it in 200 ms.');

    await supervisor.stop();
    await sleep(500);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(lines).toHaveLength(2);
  });

  it('stops a server that it is launching again', async () => {
    const slow = server('exec sleep 60', [...STOP_STEPS], 1_000);
    supervisor.addGroup(slow);
    await slow.start();
    supervisor.watch('slow', slow);
    const launch = jest.spyOn(slow, 'launch');
    process.kill(slow.pid, 'SIGKILL');
    await waitFor(() => launch.mock.calls.length === 1, 'the launch');
    const before = pids.length;
    await supervisor.stop();
    expect(pids).toHaveLength(before + 1);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('waits longer each time before it restarts a failing server', async () => {
    const failing = server('exit 3', [...STOP_STEPS]);
    supervisor.addGroup(failing);
    await failing.launch();
    supervisor.watch('failing', failing);
    await waitFor(() => lines.length === 4, 'four lines');
    expect(lines).toEqual(
      [100, 200, 400, 800].map((ms) => `failing exited (code 3); restarting it in ${ms} ms.`),
    );
    const launch = jest.spyOn(failing, 'launch');
    await supervisor.stop();
    // `stop` did not wait for the next restart.
    expect(launch).not.toHaveBeenCalled();
  });

  it('stops later groups first', async () => {
    const order: string[] = [];
    const noting = (name: string) => {
      const one = server('exec sleep 60', [...STOP_STEPS]);
      const stop = one.stop.bind(one);
      one.stop = async () => {
        await stop();
        order.push(name);
      };
      return one;
    };
    const [database, app] = [noting('database'), noting('app')];
    supervisor.addGroup(database);
    supervisor.addGroup(app);
    await Promise.all([database.start(), app.start()]);
    await supervisor.stop();
    expect(order).toEqual(['app', 'database']);
  });

  it('kills a server that ignores SIGTERM when asked to hurry', async () => {
    const stubborn = server('trap "" TERM; echo deaf; while :; do sleep 0.05; done', [
      { signal: 'SIGTERM', graceMs: 20_000 },
      { signal: 'SIGKILL', graceMs: 0 },
    ]);
    supervisor.addGroup(stubborn);
    await stubborn.start();
    await waitFor(() => readFileSync(join(folder, 'log'), 'utf8').includes('deaf'), 'the trap');
    const stopping = supervisor.stop();
    await sleep(200);
    expect(stubborn.running).toBe(true);
    await supervisor.killAll();
    await stopping;
    expect(stubborn.running).toBe(false);
  });
});
