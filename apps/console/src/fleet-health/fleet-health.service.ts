import { Injectable } from '@nestjs/common';
import { FEED_CONSUMER, TRACKING_CONSUMER, TRACKING_DEAD_STREAM, TRACKING_STREAM } from '@perkway/domain';
import { DatabaseState, HealthService, NatsService } from '@perkway/platform';
import { FleetAddresses, INGEST } from '../fleet/fleet-addresses.js';
import type { FleetHealthDto } from './fleet-health.dto.js';

const TIMEOUT_MS = 2_000;

/** The durable consumers of the stream, the apps that run them, and the metrics with the age of their oldest message. */
const CONSUMERS = [
  { app: INGEST, name: TRACKING_CONSUMER, oldest: 'tracking_lag_seconds' },
  { app: 'events', name: FEED_CONSUMER, oldest: 'feed_lag_seconds' },
];

/** Collects the health of the apps and the broker. */
@Injectable()
export class FleetHealthService {
  constructor(
    private readonly addresses: FleetAddresses,
    private readonly nats: NatsService,
    private readonly own: HealthService,
    private readonly database: DatabaseState,
  ) {}

  async check(): Promise<FleetHealthDto> {
    const [self, others, dead, backlogs] = await Promise.all([
      this.checkSelf(),
      Promise.all(this.addresses.apps.map(checkApp)),
      timed(() => this.countDeadLetters()).catch(() => null),
      Promise.all(
        CONSUMERS.map(({ name }) => this.backlogOf(name).catch(() => ({ pending: null, ack_pending: null }))),
      ),
    ]);
    const metricsOf = (app: string) => others.find(({ name }) => name === app)?.metrics ?? '';
    return {
      apps: [...others.map(toApp), self],
      broker: { available: dead !== null, latency_ms: dead?.latency_ms ?? null },
      outbox: others.flatMap(({ name, metrics }) => {
        const oldest_seconds = valueIn(metrics, 'tracking_outbox_oldest_seconds');
        if (oldest_seconds === undefined) return [];
        const waiting = valueIn(metrics, 'tracking_outbox_events') ?? null;
        return [{ app: name, oldest_seconds, waiting, buffered: valueIn(metrics, 'tracking_buffered') ?? 0 }];
      }),
      dead_letters: dead?.result ?? null,
      consumers: CONSUMERS.map(({ app, name, oldest }, index) => ({
        ...{ app, stream: TRACKING_STREAM, name, ...backlogs[index]! },
        oldest_seconds: valueIn(metricsOf(app), oldest) ?? null,
      })),
      webhooks: webhooksIn(metricsOf('events')),
      erasures_oldest_seconds: valueIn(metricsOf('token-issuer'), 'erasures_oldest_seconds') ?? null,
      checked_at: new Date().toISOString(),
    };
  }

  /** Checks without HTTP, because network policies keep the console from its own management port. */
  private async checkSelf() {
    const { result, latency_ms } = await timed(() => this.own.ready());
    const state = result.status === 200 ? ('up' as const) : ('degraded' as const);
    const database = (await this.database.check()) !== 'unavailable';
    return { name: 'console', state, latency_ms, database };
  }

  private async countDeadLetters(): Promise<number> {
    const manager = await this.manager();
    return (await manager.streams.info(TRACKING_DEAD_STREAM)).state.messages;
  }

  private async backlogOf(consumer: string): Promise<{ pending: number; ack_pending: number }> {
    const manager = await this.manager();
    const { num_pending, num_ack_pending } = await manager.consumers.info(TRACKING_STREAM, consumer);
    return { pending: num_pending, ack_pending: num_ack_pending };
  }

  private async manager() {
    if (!this.nats.current) throw new Error('not connected to the broker yet');
    return this.nats.manager(TIMEOUT_MS);
  }
}

async function timed<T>(call: () => Promise<T>): Promise<{ result: T; latency_ms: number }> {
  const began = performance.now();
  const result = await call();
  return { result, latency_ms: Math.round(performance.now() - began) };
}

const sendRequest = (url: string): Promise<Response> =>
  fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });

async function checkApp({ name, url }: { name: string; url: string }) {
  try {
    const { result: ready, latency_ms } = await timed(() => sendRequest(`${url}/readyz`));
    await ready.body?.cancel();
    const metrics = await sendRequest(`${url}/metrics`)
      .then((response) => (response.ok ? response.text() : ''))
      .catch(() => '');
    return { name, state: ready.ok ? ('up' as const) : ('degraded' as const), latency_ms, metrics };
  } catch {
    return { name, state: 'down' as const, latency_ms: null, metrics: '' };
  }
}

function toApp({ name, state, latency_ms, metrics }: Awaited<ReturnType<typeof checkApp>>) {
  const database = valueIn(metrics, 'database_available');
  return { name, state, latency_ms, database: database === undefined ? null : database === 1 };
}

function webhooksIn(metrics: string) {
  const overdue_seconds = valueIn(metrics, 'webhook_deliveries_overdue_seconds');
  if (overdue_seconds === undefined) return null;
  return { overdue_seconds, pending: valueIn(metrics, 'webhook_deliveries_pending') ?? 0 };
}

/** Reads a gauge that has no labels of its own. */
function valueIn(metrics: string, name: string): number | undefined {
  const found = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics);
  return found ? Number(found[1]) : undefined;
}
