import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { alone } from '../src/build';
import { DataFolder } from '../src/data-folder';
import { readSettings } from '../src/settings';

// Jest cannot load it.
jest.mock('rolldown', () => ({}));

describe('the data folder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'perkway-data-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('removes its state with --fresh, so that the demo history is published again', async () => {
    const env = { DATA_DIR: dataDir, STACK_FILE: join(dataDir, 'stack.json') };
    const folder = await DataFolder.open(readSettings(true, env, dataDir), () => undefined);
    const states = ['demo-state.json', 'demo-history.json', 'secrets.json'];
    for (const name of states) writeFileSync(folder.path(name), '{}');
    folder.prepare({ fresh: false });
    expect(states.filter((name) => existsSync(folder.path(name)))).toEqual(states);
    folder.prepare({ fresh: true });
    expect(states.filter((name) => existsSync(folder.path(name)))).toEqual([]);
  });
});

describe('the lock of builds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perkway-lock-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => jest.restoreAllMocks());

  it('is removed after a minute of one holder, but not if another process took it meanwhile', async () => {
    const lock = join(folder, 'build.lock');
    let now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    const holders = [process.ppid, process.pid].map(String);
    let hasRun = false;
    writeFileSync(lock, holders[0]!);
    const waiting = alone(lock, async () => void (hasRun = true));
    for (const holder of holders) {
      writeFileSync(lock, holder);
      await sleep(300);
      now += 50_000;
      await sleep(300);
      expect(readFileSync(lock, 'utf8')).toBe(holder);
    }
    expect(hasRun).toBe(false);
    now += 20_000;
    await waiting;
    expect(hasRun).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });
});
