import { Injectable } from '@nestjs/common';
import { TRACKING_CONSUMER, TRACKING_DEAD_STREAM, TRACKING_STREAM } from '@perkway/domain';
import { NatsService } from '@perkway/platform';
import { FleetAddresses } from '../fleet/fleet-addresses.js';
import type { FleetHealthDto } from './fleet-health.dto.js';

const TIMEOUT_MS = 2_000;

/** Collects the health of the apps and the broker. */
@Injectable()
export class FleetHealthService {
  constructor(
    private readonly addresses: FleetAddresses,
    private readonly nats: NatsService,
  ) {}

  async check(): Promise<FleetHealthDto> {
    const [apps, broker] = await Promise.all([
      Promise.all(this.addresses.apps.map(checkApp)),
      this.checkBroker().catch(() => ({ dead_letters: null, consumers: [] })),
    ]);
    return {
      apps: apps.map(({ name, state, latency_ms }) => ({ name, state, latency_ms })),
      outbox: apps.flatMap(({ name, oldest_seconds, buffered }) =>
        oldest_seconds === undefined ? [] : [{ app: name, oldest_seconds, buffered: buffered ?? 0 }],
      ),
      ...broker,
      checked_at: new Date().toISOString(),
    };
  }

  private async checkBroker(): Promise<Pick<FleetHealthDto, 'dead_letters' | 'consumers'>> {
    if (!this.nats.current) throw new Error('not connected to the broker yet');
    const manager = await this.nats.manager(TIMEOUT_MS);
    const [dead, consumer] = await Promise.all([
      manager.streams.info(TRACKING_DEAD_STREAM),
      manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER),
    ]);
    return {
      dead_letters: dead.state.messages,
      consumers: [
        {
          stream: TRACKING_STREAM,
          name: TRACKING_CONSUMER,
          pending: consumer.num_pending,
          ack_pending: consumer.num_ack_pending,
        },
      ],
    };
  }
}

const sendRequest = (url: string): Promise<Response> =>
  fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });

async function checkApp({ name, url }: { name: string; url: string }) {
  const began = performance.now();
  try {
    const ready = await sendRequest(`${url}/readyz`);
    await ready.body?.cancel();
    const latency_ms = Math.round(performance.now() - began);
    const metrics = await sendRequest(`${url}/metrics`)
      .then((response) => (response.ok ? response.text() : ''))
      .catch(() => '');
    return {
      name,
      state: ready.ok ? ('up' as const) : ('degraded' as const),
      latency_ms,
      oldest_seconds: valueIn(metrics, 'tracking_outbox_oldest_seconds'),
      buffered: valueIn(metrics, 'tracking_buffered'),
    };
  } catch {
    return { name, state: 'down' as const, latency_ms: null };
  }
}

/** Reads a gauge that has no labels of its own. */
function valueIn(metrics: string, name: string): number | undefined {
  const found = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics);
  return found ? Number(found[1]) : undefined;
}
