import { Histogram, Registry } from 'prom-client';
import { RequestDurations } from './request-durations.js';

const newRegistry = () => {
  const registry = new Registry();
  registry.setDefaultLabels({ app: 'test' });
  return registry;
};
/** Sorted, because the order of lines and labels does not matter. */
const linesOf = async (registry: Registry) =>
  (await registry.metrics())
    .trim()
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`))
    .sort();

describe('RequestDurations', () => {
  it("writes the same text as prom-client's histogram", async () => {
    const [mine, theirs] = [newRegistry(), newRegistry()];
    const durations = new RequestDurations(mine);
    const reference = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Response time, by route pattern',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [theirs],
    });
    for (const method of ['GET', 'HEAD'])
      for (const route of ['/perks/:id', '(none)', '/a"b\\c'])
        for (const status of [200, 404])
          for (const seconds of [0, 0.0005, 0.001, 0.0010001, 0.3, 5, 6, 100]) {
            durations.observe(method, route, status, seconds);
            reference.observe({ method, route, status }, seconds);
          }
    expect(await linesOf(mine)).toEqual(await linesOf(theirs));
    expect(await linesOf(mine)).toContain(
      'http_request_duration_seconds_count{app="test",method="GET",route="/perks/:id",status="200"} 8',
    );
  });

  it('writes no series before the first request', async () => {
    const registry = newRegistry();
    new RequestDurations(registry);
    expect(await linesOf(registry)).toEqual([
      '# HELP http_request_duration_seconds Response time, by route pattern',
      '# TYPE http_request_duration_seconds histogram',
    ]);
  });
});
