import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../fleet.js';
import { residentMiB } from '../process-usage.js';
import { analyticsClient, judge, timed, write } from './analytics-client.js';

const ROWS = 50_000;
const LARGE = 32;
const HOSTILE = 200;
/** Raw rows, neither grouped nor sorted, so that sending them dominates. */
const ROWS_OF = {
  dimensions: ['teaser_views.journey_id', 'teaser_views.occurred_at'],
  ungrouped: true,
  order: [],
  limit: ROWS,
};

/** Returns the peak memory and the slowest /livez response during `work`. */
async function watched(fleet: Fleet, work: () => Promise<unknown>) {
  const pid = fleet.pid('analytics-query');
  const url = `${fleet.urls['analytics-query']}/livez`;
  let peak = 0;
  let livez = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, residentMiB(pid) ?? 0);
      livez = Math.max(livez, await timed(async () => (await fetch(url)).text()));
      await sleep(20);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
  }
  await watching;
  return { peak, livez };
}

/** Sends many large queries at once, and queries beyond the limits. */
export async function memory(fleet: Fleet): Promise<number> {
  const analytics = await analyticsClient(fleet, 'synthetic-01');
  write('\nmemory of the query host');
  let bytes = 0;
  const large = await watched(fleet, () =>
    Promise.all(
      Array.from({ length: LARGE }, async (_, offset) => {
        // Different ones, because equal queries share a run.
        const read = await analytics.read({ ...ROWS_OF, offset });
        bytes += read;
      }),
    ),
  );
  let missed = judge(
    `${LARGE} responses of ${ROWS} rows at once, ${(bytes / 1024 / 1024).toFixed(0)} MiB together: at most ${large.peak.toFixed(0)} MiB, /livez within ${large.livez.toFixed(0)} ms; target 300 MiB, 1000 ms`,
    large.peak < 300 && large.livez < 1_000,
  );

  const counts = new Map<string, number>();
  const hostile = await watched(fleet, () =>
    Promise.all(
      Array.from({ length: HOSTILE }, async (_, index) => {
        // Every second request stays within the limit.
        const queries = Array.from({ length: index % 2 ? 5 : 50 }, (__, offset) => ({
          measures: ['teaser_views.count'],
          timeDimensions: [{ dimension: 'teaser_views.occurred_at', granularity: 'second' }],
          limit: ROWS,
          offset: index * 100 + offset,
        }));
        const { status, error } = await analytics.tryTo(queries);
        const key = `${status} ${error}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }),
    ),
  );
  write([...counts].map(([response, times]) => `  ${times} x ${response}`).join('\n'));
  missed += judge(
    `${HOSTILE} hostile requests: at most ${hostile.peak.toFixed(0)} MiB, /livez within ${hostile.livez.toFixed(0)} ms; target 512 MiB`,
    hostile.peak < 512,
  );
  return missed;
}
