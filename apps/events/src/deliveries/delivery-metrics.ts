import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';

/** The backlog of all replicas together. */
export interface Backlog {
  pending: number;
  /** Seconds since the oldest pending delivery became due, of the webhooks that are not failing. */
  overdueS: number;
  failing: number;
}

@Injectable()
export class DeliveryMetrics {
  readonly attempts: Counter<'result'>;
  readonly disabled: Counter;
  private readonly pending: Gauge;
  private readonly overdue: Gauge;
  private readonly failing: Gauge;

  constructor(private readonly registry: Registry) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook, by result',
      labelNames: ['result'],
      registers,
    });
    this.attempts.inc({ result: 'success' }, 0);
    this.disabled = new Counter({
      name: 'webhooks_disabled_total',
      help: 'Webhooks disabled because their receiver is gone or failed for days',
      registers,
    });
    this.pending = new Gauge({
      name: 'webhook_deliveries_pending',
      help: 'Deliveries that wait for an attempt, at most 100000',
      registers,
    });
    this.overdue = new Gauge({
      name: 'webhook_deliveries_overdue_seconds',
      help: 'Seconds since the oldest pending delivery became due, of the webhooks that are not failing',
      registers,
    });
    this.failing = new Gauge({
      name: 'webhooks_failing',
      help: 'Enabled webhooks without a success since an attempt failed',
      registers,
    });
  }

  /** Sets the metrics that describe all replicas. */
  backlog({ pending, overdueS, failing }: Backlog): void {
    this.pending.set(pending);
    this.overdue.set(overdueS);
    this.failing.set(failing);
  }

  /** Registers a function that each scrape calls for the number of running attempts. */
  running(value: () => number): void {
    new Gauge({
      name: 'webhook_attempts_running',
      help: 'Attempts that run now',
      registers: [this.registry],
      collect() {
        this.set(value());
      },
    });
  }
}
