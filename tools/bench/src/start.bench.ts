import { setTimeout as sleep } from 'node:timers/promises';
import { APPS } from '@perkway/fleet';
import { cpuSeconds, residentMiB } from './process-usage.js';
import type { Scenario } from './scenario.js';

/** V8 returns memory to the system in this time. */
const SETTLE_MS = 45_000;
const IDLE_SECONDS = 20;

export const scenario: Scenario = {
  title: 'Start and idle: CPU until an app is ready, then memory and CPU without requests',
  apps: APPS,
  async run(fleet) {
    const started = APPS.map((app) => cpuSeconds(fleet.pid(app)) ?? NaN);
    await sleep(SETTLE_MS);
    const before = APPS.map((app) => cpuSeconds(fleet.pid(app)) ?? NaN);
    await sleep(IDLE_SECONDS * 1_000);
    process.stdout.write('app               start, CPU s   memory, MiB   idle CPU, ms/s\n');
    let idleOfAll = 0;
    for (const [index, app] of APPS.entries()) {
      const pid = fleet.pid(app);
      const idle = (((cpuSeconds(pid) ?? NaN) - before[index]!) * 1_000) / IDLE_SECONDS;
      idleOfAll += idle;
      process.stdout.write(
        `${app.padEnd(16)}${started[index]!.toFixed(2).padStart(14)}` +
          `${(residentMiB(pid) ?? NaN).toFixed(0).padStart(14)}${idle.toFixed(1).padStart(17)}\n`,
      );
    }
    process.stdout.write(`CPU of the idle fleet: ${idleOfAll.toFixed(1)} ms/s\n`);
    return 0;
  },
};
