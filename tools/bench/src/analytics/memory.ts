import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../fleet.js';
import { residentMiB } from '../process-usage.js';
import { asker, judge, timed, write } from './asker.js';

const ROWS = 50_000;
const LARGE = 32;
const HOSTILE = 200;
/** As they lie: neither grouped nor sorted, so that sending them is what takes the time. */
const ROWS_OF = {
  dimensions: ['teaser_views.journey_id', 'teaser_views.occurred_at'],
  ungrouped: true,
  order: [],
  limit: ROWS,
};

/** The most that the process held, and the slowest answer of /livez, while something was done. */
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

/** Many large answers at once, and requests that ask for more than there may be. */
export async function memory(fleet: Fleet): Promise<number> {
  const analytics = await asker(fleet, 'synthetic-01');
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
    `${LARGE} answers of ${ROWS} rows at once, ${(bytes / 1024 / 1024).toFixed(0)} MiB together: at most ${large.peak.toFixed(0)} MiB, /livez within ${large.livez.toFixed(0)} ms; target 300 MiB, 1000 ms`,
    large.peak < 300 && large.livez < 1_000,
  );

  const answered = new Map<string, number>();
  const hostile = await watched(fleet, () =>
    Promise.all(
      Array.from({ length: HOSTILE }, async (_, index) => {
        // Every second one keeps to the limit.
        const queries = Array.from({ length: index % 2 ? 5 : 50 }, (__, offset) => ({
          measures: ['teaser_views.count'],
          timeDimensions: [{ dimension: 'teaser_views.occurred_at', granularity: 'second' }],
          limit: ROWS,
          offset: index * 100 + offset,
        }));
        const { status, error } = await analytics.tryTo(queries);
        const key = `${status} ${error}`;
        answered.set(key, (answered.get(key) ?? 0) + 1);
      }),
    ),
  );
  write([...answered].map(([answer, times]) => `  ${times} x ${answer}`).join('\n'));
  missed += judge(
    `${HOSTILE} hostile requests: at most ${hostile.peak.toFixed(0)} MiB, /livez within ${hostile.livez.toFixed(0)} ms; target 512 MiB`,
    hostile.peak < 512,
  );
  return missed;
}
