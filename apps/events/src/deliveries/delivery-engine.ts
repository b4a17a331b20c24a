import { setTimeout as sleep } from 'node:timers/promises';
import { open, webhookHeaders, type Keyring } from '@perkway/signing';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { toEvent } from '../feed/feed-rows.js';
import type { Clock } from '@perkway/platform';
import type { DeliveryMetrics } from './delivery-metrics.js';
import type { ClaimedDelivery, ClaimLimits, DeliveryQueue, DeliveryResult } from './delivery-queue.js';
import { parseRetryAfter, retryDelay } from './retry-schedule.js';
import type { AttemptResult, Sender } from './sender.js';

/** Attempts of this replica at once: in all, for one account, and for one webhook. */
const MAX_RUNNING = 1_024;
const MAX_RUNNING_PER_ACCOUNT = 64;
const MAX_RUNNING_PER_WEBHOOK = 16;
/** After so many failures in a row a webhook gets one attempt at a time. */
const MAX_FAILURES = Math.log2(MAX_RUNNING_PER_WEBHOOK);
/** Webhooks whose failures in a row are remembered. */
const FAILING_WEBHOOKS = 2_000;

const OPENED_SECRETS = 2_000;

const GONE_STATUS = 410;
const RECORD_BATCH = 500;
const RECORD_RETRY_MS = 500;
const IDLE_POLL_MS = 5;

export const WEBHOOK_SECRET = 'webhook-secret';
/** What a sealed secret is bound to. */
export const secretContext = (account: string, webhookId: string): string => `${account}/${webhookId}`;

/** Claims due deliveries, attempts them, and records the results. */
export class DeliveryEngine {
  /** Attempts that run or whose result is not stored yet. */
  private readonly running = new Set<ClaimedDelivery>();
  /** Attempts that run. Others start while the results of these are stored. */
  private readonly attempting = new Set<ClaimedDelivery>();
  private readonly failures = new LRUCache<string, number>({ max: FAILING_WEBHOOKS });
  /** By their sealed form. */
  private readonly secrets = new LRUCache<string, string>({ max: OPENED_SECRETS });
  private readonly results: DeliveryResult[] = [];
  private recording: Promise<void> | undefined;
  private isAbandoned = false;

  /** @param onRoom called when attempts have ended and others can start */
  constructor(
    private readonly queue: Pick<DeliveryQueue, 'claim' | 'record'>,
    private readonly sender: Pick<Sender, 'post'>,
    private readonly secretKeys: Keyring,
    private readonly clock: Clock,
    private readonly metrics: DeliveryMetrics,
    private readonly logger: Logger,
    private readonly onRoom: () => void = () => undefined,
  ) {
    metrics.running(() => this.attempting.size);
  }

  /** Claims and starts the attempts that are due and have room. @returns how many */
  async start(): Promise<number> {
    const total = MAX_RUNNING - this.attempting.size;
    if (total <= 0) return 0;
    const claimed = await this.queue.claim(new Date(this.clock.now()), { total, ...this.limits() });
    for (const delivery of claimed) {
      this.running.add(delivery);
      this.attempting.add(delivery);
      void this.attempt(delivery).then((result) => this.finish(result));
    }
    return claimed.length;
  }

  /** Resolves when no attempt runs and all results are stored. */
  async whenIdle(): Promise<void> {
    while (this.running.size > 0 && !this.isAbandoned) await (this.recording ?? sleep(IDLE_POLL_MS));
  }

  /** Leaves the attempts that still run to other replicas, after their leases. */
  abandon(): void {
    this.isAbandoned = true;
  }

  private limits(): Omit<ClaimLimits, 'total'> {
    const running = [...this.attempting].filter(({ requested }) => !requested);
    const ofWebhook = countBy(running, ({ webhook }) => webhook);
    const room = new Map<string, number>();
    for (const webhook of new Set([...ofWebhook.keys(), ...this.failures.keys()])) {
      // One that fails again and again gets one attempt at a time, so that it holds no others up.
      const limit = Math.max(1, MAX_RUNNING_PER_WEBHOOK >> (this.failures.get(webhook) ?? 0));
      room.set(webhook, Math.max(0, limit - (ofWebhook.get(webhook) ?? 0)));
    }
    return {
      perWebhook: MAX_RUNNING_PER_WEBHOOK,
      perAccount: MAX_RUNNING_PER_ACCOUNT,
      room,
      running: countBy(running, ({ account_id }) => account_id),
    };
  }

  private async attempt(delivery: ClaimedDelivery): Promise<DeliveryResult> {
    const { event_id, url, webhook } = delivery;
    if (!delivery.is_stored) return endedBy(delivery, 'The event is no longer stored');
    let result: AttemptResult;
    try {
      const body = JSON.stringify(toEvent({ ...delivery, id: event_id, position: '' }));
      const headers = webhookHeaders(this.secretsOf(delivery), event_id, this.clock.now(), body);
      result = await this.sender.post(url, headers, body);
    } catch (err) {
      this.logger.error({ err, account: delivery.account_id }, 'cannot sign a webhook');
      result = { isSuccess: false, status: null, error: 'The delivery could not be signed' };
    }
    const { isSuccess, status, error, retryAfter } = result;
    if (isSuccess) this.failures.delete(webhook);
    else this.failures.set(webhook, Math.min(MAX_FAILURES, (this.failures.get(webhook) ?? 0) + 1));
    this.metrics.attempts.inc({ result: isSuccess ? 'success' : 'failure' });
    if (isSuccess || status === GONE_STATUS)
      return { delivery, isSuccess, status, error, nextAttemptAt: null };
    const now = this.clock.now();
    const delay = retryDelay(delivery.attempts + 1, parseRetryAfter(retryAfter, now), Math.random());
    const nextAttemptAt = delay === undefined ? null : new Date(now + delay);
    return { delivery, isSuccess, status, error, nextAttemptAt };
  }

  private secretsOf(delivery: ClaimedDelivery): string[] {
    const { account_id, webhook_id, secret, previous_secret, previous_secret_until } = delivery;
    const sealed = [secret];
    if (previous_secret && previous_secret_until!.getTime() > this.clock.now()) sealed.push(previous_secret);
    return sealed.map((each) => {
      const key = `${each.toString('latin1')}/${account_id}/${webhook_id}`;
      let opened = this.secrets.get(key);
      if (opened === undefined) {
        opened = open(this.secretKeys, WEBHOOK_SECRET, each, secretContext(account_id, webhook_id));
        this.secrets.set(key, opened);
      }
      return opened;
    });
  }

  private finish(result: DeliveryResult) {
    if (this.isAbandoned) return;
    this.attempting.delete(result.delivery);
    this.onRoom();
    this.results.push(result);
    this.recording ??= this.record().finally(() => (this.recording = undefined));
  }

  /** Stores results, those together that came while others were stored. */
  private async record() {
    while (this.results.length > 0) {
      const results = this.results.splice(0, RECORD_BATCH);
      try {
        for (const disabled of await this.queue.record(results, new Date(this.clock.now()))) {
          this.metrics.disabled.inc();
          this.logger.warn(disabled, 'webhook disabled');
        }
      } catch (err) {
        const isLeased = results.every(({ delivery }) => delivery.lease.getTime() > this.clock.now());
        this.logger.warn({ err, isLeased }, 'cannot store the results of deliveries');
        // Without a lease they are attempted again, by this replica or another one.
        if (isLeased && !this.isAbandoned) {
          this.results.unshift(...results);
          await sleep(RECORD_RETRY_MS);
          continue;
        }
      }
      for (const { delivery } of results) this.running.delete(delivery);
      this.onRoom();
    }
  }
}

const endedBy = (delivery: ClaimedDelivery, error: string): DeliveryResult => ({
  delivery,
  isSuccess: false,
  status: null,
  error,
  nextAttemptAt: null,
});

function countBy<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
