import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of events on their way to the stream. They count events, not messages. */
export class TrackingMetrics {
  readonly published: Counter;
  readonly outboxed: Counter;
  readonly relayed: Counter;
  readonly atRisk: Counter;
  readonly lost: Counter;
  readonly inOutbox: Gauge;
  readonly oldestInOutbox: Gauge;

  /** @param buffer read at each scrape, as is `stream` */
  constructor(registry: Registry, buffer: { size: number }, stream: { isUnavailable: boolean }) {
    const registers = [registry];
    const counter = (name: string, help: string) => new Counter({ name, help, registers });
    this.published = counter(
      'tracking_published_total',
      'Events acknowledged by the stream, except relayed ones',
    );
    this.outboxed = counter('tracking_outboxed_total', 'Events written to the outbox instead');
    this.relayed = counter('tracking_relayed_total', 'Events relayed from the outbox to the stream');
    this.atRisk = counter(
      'tracking_at_risk_total',
      'Events whose requests were acknowledged while they were only in memory',
    );
    this.lost = counter(
      'tracking_lost_total',
      'Events dropped because the buffer was full, they were too large to send, or the app stopped',
    );

    const gauge = (name: string, help: string, value?: () => number) =>
      new Gauge({ name, help, registers, collect: value && gaugeOf(value) });
    this.inOutbox = gauge(
      'tracking_outbox_events',
      'Events in the outbox when it was last read, at most 10000',
    );
    this.oldestInOutbox = gauge(
      'tracking_outbox_oldest_seconds',
      'Age of the oldest event in the outbox when it was last read',
    );
    gauge('tracking_buffered', 'Events that are only in memory', () => buffer.size);
    gauge('tracking_breaker_open', '1 while the stream is considered down', () =>
      Number(stream.isUnavailable),
    );
  }
}

const gaugeOf = (value: () => number) =>
  function collect(this: Gauge) {
    this.set(value());
  };
