import { Loops } from '@perkway/platform';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import type { Partitions } from '../partitions/partitions.js';
import { isDueForSort, MaintenanceService } from './maintenance.service.js';
import type { RollupRefresher } from './rollup-refresher.js';

const at = (text: string): number => Date.parse(`${text}T12:00Z`);

describe('a month is due for sorting', () => {
  it.each([
    ['not in its first days', '2026-03-05', undefined, false],
    ['after a week', '2026-03-09', undefined, true],
    ['not again right after a sort', '2026-03-15', '2026-03-09', false],
    ['again a week later', '2026-03-17', '2026-03-09', true],
    ['just after its end, if a week has passed since the last sort', '2026-04-01', '2026-03-24', true],
    ['finally, three days after its end', '2026-04-05', '2026-04-01', true],
    ['not again after the final sort', '2026-12-05', '2026-04-05', false],
    ['however late, if it was never sorted', '2026-12-05', undefined, true],
    ['not before it begins', '2026-02-20', undefined, false],
  ])('%s', (_, now, sortedAt, expected) => {
    expect(isDueForSort('2026-03', sortedAt === undefined ? undefined : at(sortedAt), at(now))).toBe(
      expected,
    );
  });
});

it('reports the failures of each task', async () => {
  const warnings: string[] = [];
  const logger = {
    debug: () => {},
    warn: (_: object, message: string) => warnings.push(message),
  } as unknown as Logger;
  const fail = () => Promise.reject(new Error('a bug'));
  const env = { ROLLUP_INTERVAL_MS: 60_000, UPKEEP_INTERVAL_MS: 60_000 } as AnalyticsQueryEnv;
  const loops = new Loops(logger);
  new MaintenanceService(
    env,
    { refresh: fail } as unknown as RollupRefresher,
    { ensure: fail } as unknown as Partitions,
    logger,
    loops,
  );
  loops.onApplicationBootstrap();
  await new Promise((resolve) => setImmediate(resolve));
  await loops.beforeApplicationShutdown();
  expect(warnings).toEqual([
    'cannot refresh the rollups, retrying',
    'cannot maintain the months of events, retrying',
  ]);
});
