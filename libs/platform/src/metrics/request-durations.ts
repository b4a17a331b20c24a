import type { Histogram, Registry } from 'prom-client';

const NAME = 'http_request_duration_seconds';
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface Counts {
  /** Observations per bucket, not cumulative; the last bucket is +Inf. */
  buckets: number[];
  sum: number;
}

/**
 * The histogram `http_request_duration_seconds` by method, route pattern and status. Counts on its own and uses
 * prom-client only for the scrape, because prom-client sorts and joins the labels on each observation, the most
 * expensive single step of a small request.
 */
export class RequestDurations {
  readonly name = NAME;
  readonly help = 'Response time, by route pattern';
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  private readonly counts = new Map<string, Map<string, Map<number, Counts>>>();

  constructor(registry: Registry) {
    // Registering and scraping only use a metric's name and `get`.
    registry.registerMetric(this as unknown as Histogram);
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    const counts = this.countsOf(method, route, status);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]!) bucket += 1;
    counts.buckets[bucket]! += 1;
    counts.sum += seconds;
  }

  /** Returns what prom-client's own histogram would. */
  async get() {
    const values: { metricName: string; labels: Record<string, string | number>; value: number }[] = [];
    for (const [route, byMethod] of this.counts)
      for (const [method, byStatus] of byMethod)
        for (const [status, { buckets, sum }] of byStatus) {
          const labels = { method, route, status };
          let count = 0;
          for (const [index, own] of buckets.entries()) {
            count += own;
            const le = BUCKETS[index] ?? '+Inf';
            values.push({ metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: count });
          }
          values.push({ metricName: `${NAME}_sum`, labels, value: sum });
          values.push({ metricName: `${NAME}_count`, labels, value: count });
        }
    return { name: NAME, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }

  private countsOf(method: string, route: string, status: number): Counts {
    let byMethod = this.counts.get(route);
    if (!byMethod) this.counts.set(route, (byMethod = new Map()));
    let byStatus = byMethod.get(method);
    if (!byStatus) byMethod.set(method, (byStatus = new Map()));
    let counts = byStatus.get(status);
    if (!counts)
      byStatus.set(status, (counts = { buckets: Array<number>(BUCKETS.length + 1).fill(0), sum: 0 }));
    return counts;
  }
}
