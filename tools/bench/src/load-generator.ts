/** A child process that sends requests, one workload at a time. */
import autocannon, { type Result } from 'autocannon';

export interface Load {
  url: string;
  method?: 'GET' | 'POST' | 'HEAD';
  headers?: Record<string, string>;
  body?: string;
  connections: number;
  seconds?: number;
  /** Number of requests, instead of a duration. */
  requests?: number;
  /** Expected statuses; default: 200. */
  expect?: number[];
}

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Number of other responses by status. */
  unexpected: Record<string, number>;
  /** Broken connections and timeouts. */
  errors: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** CPU share of this process. From 1 on, the generator itself was the bottleneck. */
  generatorCpu: number;
}

async function run(load: Load): Promise<LoadResult> {
  const statuses: Record<string, number> = {};
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const result = await new Promise<Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url: load.url,
        method: load.method ?? 'GET',
        headers: load.headers,
        body: load.body,
        connections: load.connections,
        ...(load.requests === undefined ? { duration: load.seconds ?? 1 } : { amount: load.requests }),
        timeout: 10,
      },
      (error: unknown, done) => (error ? reject(error as Error) : resolve(done)),
    );
    instance.on('response', (_client, status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
  });
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - startedAt) / 1_000;
  const expected = load.expect ?? [200];
  const requests = expected.reduce((sum, status) => sum + (statuses[status] ?? 0), 0);
  for (const status of expected) delete statuses[status];
  return {
    requests,
    seconds: result.duration || seconds,
    unexpected: statuses,
    errors: result.errors + result.timeouts,
    p50: result.latency.p50,
    p99: result.latency.p99,
    generatorCpu: (user + system) / 1e6 / seconds,
  };
}

process.on('message', (load: Load) => {
  run(load).then(
    (result) => process.send!({ result }),
    (error: Error) => process.send!({ error: error.message }),
  );
});
