import { Counter, Gauge, type Registry } from 'prom-client';

/** What is asked at each scrape. */
export interface TrackingState {
  bufferedEvents: () => number;
  isStreamAway: () => boolean;
}

/** What Prometheus learns of the events on their way. All count events, not messages. */
export class TrackingMetrics {
  readonly published: Counter;
  readonly outboxed: Counter;
  readonly relayed: Counter;
  readonly atRisk: Counter;
  readonly lost: Counter;
  readonly oldestInOutbox: Gauge;

  constructor(registry: Registry, { bufferedEvents, isStreamAway }: TrackingState) {
    const registers = [registry];
    const counter = (name: string, help: string) => new Counter({ name, help, registers });
    this.published = counter('tracking_published_total', 'Events acknowledged by the stream at once');
    this.outboxed = counter('tracking_outboxed_total', 'Events written to the outbox instead');
    this.relayed = counter('tracking_relayed_total', 'Events that followed from the outbox to the stream');
    this.atRisk = counter('tracking_at_risk_total', 'Events answered while they were in memory only');
    this.lost = counter(
      'tracking_lost_total',
      'Events dropped: the buffer was full, or too large to be sent',
    );

    const gauge = (name: string, help: string, value?: () => number) =>
      new Gauge({ name, help, registers, collect: value && gaugeOf(value) });
    this.oldestInOutbox = gauge(
      'tracking_outbox_oldest_seconds',
      'Age of the oldest event in the outbox at the last look',
    );
    gauge('tracking_buffered', 'Events that are in memory only', bufferedEvents);
    gauge('tracking_breaker_open', '1 while the stream is taken to be away', () => Number(isStreamAway()));
  }
}

const gaugeOf = (value: () => number) =>
  function collect(this: Gauge) {
    this.set(value());
  };
