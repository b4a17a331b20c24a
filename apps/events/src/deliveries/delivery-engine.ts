import { setTimeout as sleep } from 'node:timers/promises';
import { open, webhookHeaders, type Keyring } from '@perkway/signing';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Clock } from '@perkway/platform';
import type { DeliveryMetrics } from './delivery-metrics.js';
import type { ClaimedDelivery, ClaimLimits, DeliveryQueue, DeliveryResult } from './delivery-queue.js';
import { parseRetryAfter, retryDelay } from './retry-schedule.js';
import type { AttemptResult, Sender } from './sender.js';

/** Limits of concurrent attempts of this replica: in total, per account, and per webhook. */
const MAX_RUNNING = 1_024;
const MAX_RUNNING_PER_ACCOUNT = 64;
const MAX_RUNNING_PER_WEBHOOK = 16;
/** The limit of a webhook rises to this while it responds within FAST_RESPONSE_MS. */
const MAX_RUNNING_PER_FAST_WEBHOOK = 128;
/**
 * Attempts of a webhook beyond MAX_RUNNING_PER_WEBHOOK are extra: they do not count for MAX_RUNNING_PER_ACCOUNT, and start only
 * below these numbers of running attempts, so that fast webhooks that begin to hang leave room for other accounts.
 */
const MAX_RUNNING_WITH_EXTRA = 640;
const MAX_RUNNING_PER_ACCOUNT_WITH_EXTRA = 384;
const FAST_RESPONSE_MS = 250;
/**
 * When this many attempts have ended, the next claim starts at once, while the others still run. A timer would fire
 * only after all responses that have arrived are processed, and the replica would have no attempts during the claim.
 */
const ENDED_BEFORE_CLAIM = 150;
/** Number of webhooks with a limit other than MAX_RUNNING_PER_WEBHOOK that are remembered. */
const MAX_CACHED_LIMITS = 2_000;
/** Number of decrypted secrets that are cached. */
const MAX_CACHED_SECRETS = 2_000;

const GONE_STATUS = 410;
const RECORD_BATCH = 500;
/** Results wait this long, so that one statement stores several. Those of ordered webhooks do not wait. */
const RECORD_PAUSE_MS = 10;
const RECORD_RETRY_MS = 500;
const IDLE_POLL_MS = 5;

export const WEBHOOK_SECRET = 'webhook-secret';
/** Returns the context of a webhook's encrypted secret, so that it cannot be decrypted for another webhook. */
export const secretContext = (account: string, webhookId: string): string => `${account}/${webhookId}`;

/** Claims due deliveries, attempts them, and records the results. */
export class DeliveryEngine {
  /** Attempts that are running, and those whose result is not stored yet. */
  private readonly running = new Set<ClaimedDelivery>();
  /** Attempts that are running. An attempt leaves this set before its result is stored, so that others can start. */
  private readonly attempting = new Set<ClaimedDelivery>();
  /** Limits of webhooks that do not have MAX_RUNNING_PER_WEBHOOK. */
  private readonly limitOf = new LRUCache<string, number>({ max: MAX_CACHED_LIMITS });
  /** Decrypted secrets by webhook and encrypted secret. */
  private readonly secrets = new LRUCache<string, string>({ max: MAX_CACHED_SECRETS });
  private readonly results: DeliveryResult[] = [];
  private recording: Promise<void> | undefined;
  private isAbandoned = false;
  /** Number of attempts that have ended since the last claim started. */
  private ended = 0;

  /** @param onRoom called when others can start; `isUrgent` if many attempts have ended */
  constructor(
    private readonly queue: Pick<DeliveryQueue, 'claim' | 'record'>,
    private readonly sender: Pick<Sender, 'post'>,
    private readonly secretKeys: Keyring,
    private readonly clock: Clock,
    private readonly metrics: DeliveryMetrics,
    private readonly logger: Logger,
    private readonly onRoom: (isUrgent?: boolean) => void = () => undefined,
  ) {
    metrics.running(() => this.attempting.size);
  }

  /** Claims due deliveries within the limits and starts attempts of them. Returns how many it started. */
  async start(): Promise<number> {
    const total = MAX_RUNNING - this.attempting.size;
    if (total <= 0) return 0;
    this.ended = 0;
    const claimed = await this.queue.claim(new Date(this.clock.now()), { total, ...this.claimLimits() });
    for (const delivery of claimed) {
      this.running.add(delivery);
      this.attempting.add(delivery);
      void this.attempt(delivery).then((result) => this.finish(result));
    }
    return claimed.length;
  }

  /** Resolves when no attempt is running and all results are stored. */
  async whenIdle(): Promise<void> {
    while (this.running.size > 0 && !this.isAbandoned) await (this.recording ?? sleep(IDLE_POLL_MS));
  }

  /** Ignores the results of running attempts. Other replicas attempt them again once their leases have expired. */
  abandon(): void {
    this.isAbandoned = true;
  }

  private claimLimits(): Omit<ClaimLimits, 'total'> {
    const ofWebhook = new Map<string, number>();
    const ofAccount = new Map<string, number>();
    const ofAccountWithExtra = new Map<string, number>();
    const add = (counts: Map<string, number>, key: string) => {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    };
    for (const { requested, webhook, account_id } of this.attempting) {
      if (requested) continue;
      add(ofAccountWithExtra, account_id);
      if (add(ofWebhook, webhook) <= MAX_RUNNING_PER_WEBHOOK) add(ofAccount, account_id);
    }
    const room: ClaimLimits['room'] = new Map(
      [...new Set([...ofWebhook.keys(), ...this.limitOf.keys()])].map((webhook) => {
        const running = ofWebhook.get(webhook) ?? 0;
        // Not get(), which would make a webhook look recently used.
        const limit = this.limitOf.peek(webhook) ?? MAX_RUNNING_PER_WEBHOOK;
        return [webhook, { more: Math.max(0, limit - running), running }];
      }),
    );
    return {
      perWebhook: MAX_RUNNING_PER_WEBHOOK,
      perAccount: MAX_RUNNING_PER_ACCOUNT,
      totalExtra: MAX_RUNNING_WITH_EXTRA - this.attempting.size,
      perAccountWithExtra: MAX_RUNNING_PER_ACCOUNT_WITH_EXTRA,
      room,
      running: ofAccount,
      runningWithExtra: ofAccountWithExtra,
    };
  }

  /** Lowers the limit of a webhook after a failure, raises it after a fast success, and resets it after a slow one. */
  private adjustLimit(webhook: string, isSuccess: boolean, tookMs: number) {
    const limit = this.limitOf.get(webhook) ?? MAX_RUNNING_PER_WEBHOOK;
    if (!isSuccess) this.limitOf.set(webhook, Math.max(1, Math.min(limit, MAX_RUNNING_PER_WEBHOOK) >> 1));
    else if (tookMs > FAST_RESPONSE_MS) this.limitOf.delete(webhook);
    else if (limit < MAX_RUNNING_PER_FAST_WEBHOOK)
      this.limitOf.set(webhook, Math.max(limit, MAX_RUNNING_PER_WEBHOOK) + 1);
  }

  private async attempt(delivery: ClaimedDelivery): Promise<DeliveryResult> {
    const { event_id, url } = delivery;
    if (!delivery.is_stored) return endedBy(delivery, 'The event is no longer stored');
    let result: AttemptResult;
    const start = this.clock.now();
    try {
      const body = bodyOf(delivery);
      const headers = webhookHeaders(this.secretsOf(delivery), event_id, this.clock.now(), body);
      result = await this.sender.post(url, headers, body);
    } catch (err) {
      this.logger.error({ err, account: delivery.account_id }, 'cannot sign a webhook');
      result = { isSuccess: false, status: null, error: 'The delivery could not be signed' };
    }
    const { isSuccess, status, error, retryAfter } = result;
    this.adjustLimit(delivery.webhook, isSuccess, this.clock.now() - start);
    this.metrics.attempts.inc({ result: isSuccess ? 'success' : 'failure' });
    // A ping is not retried after a 410. Deliveries of events end because the 410 disables the webhook, unless its URL
    // was changed during the attempt.
    if (isSuccess || (status === GONE_STATUS && delivery.type === 'webhook.ping'))
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
    this.ended += 1;
    this.onRoom(this.ended >= ENDED_BEFORE_CLAIM);
    this.results.push(result);
    this.recording ??= this.record().finally(() => (this.recording = undefined));
  }

  /** Stores the results in batches: those that arrive during one statement are stored together by the next one. */
  private async record() {
    while (this.results.length > 0) {
      if (this.attempting.size > 0 && this.results.every(({ delivery }) => delivery.subject_hash === null))
        await sleep(RECORD_PAUSE_MS);
      const results = this.results.splice(0, RECORD_BATCH);
      try {
        for (const disabled of await this.queue.record(results, new Date(this.clock.now()))) {
          this.metrics.disabled.inc();
          this.logger.warn(disabled, 'webhook disabled');
        }
      } catch (err) {
        const isLeased = results.every(({ delivery }) => delivery.lease.getTime() > this.clock.now());
        this.logger.warn({ err, isLeased }, 'cannot store the results of deliveries');
        // Once the leases have expired, these deliveries are attempted again, by this replica or another one.
        if (isLeased && !this.isAbandoned) {
          this.results.unshift(...results);
          await sleep(RECORD_RETRY_MS);
          continue;
        }
      }
      for (const { delivery } of results) this.running.delete(delivery);
      // The next deliveries of these subjects were released.
      if (results.some(({ delivery }) => delivery.subject_hash !== null)) this.onRoom();
    }
  }
}

/** Returns the event as the feed shows it. Inserts `data` as it is, because it is JSON already. */
const bodyOf = ({ event_id, type, occurred_at, subject, data, erased }: ClaimedDelivery): string =>
  `{"id":${JSON.stringify(event_id)},"type":"${type}","occurred_at":"${occurred_at.toISOString()}",` +
  `"subject":${JSON.stringify(subject)},"data":${data}${erased ? ',"erased":true' : ''}}`;

const endedBy = (delivery: ClaimedDelivery, error: string): DeliveryResult => ({
  delivery,
  isSuccess: false,
  status: null,
  error,
  nextAttemptAt: null,
});
