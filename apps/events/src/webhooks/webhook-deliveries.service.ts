import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiError, invalidField, lastOf, type Caller } from '@perkway/domain';
import { Clock, Conditions, KeysetPaginator, readOneOf, type ListQuery, type Page } from '@perkway/platform';
import { DataSource, type EntityManager } from 'typeorm';
import { EARLIER, subjectHashOf } from '../deliveries/delivery-queue.js';
import { DeliveryWorker } from '../deliveries/delivery-worker.js';
import { searchTime } from '../feed/feed-rows.js';
import { DELIVERY_STATES, type Delivery, type ReplayWebhookDto } from './webhook.dto.js';
import { WebhookEntity } from './webhook.entity.js';

const PING_ID_BYTES = 16;
/** Maximum number of unfinished replays of one webhook. */
const MAX_REPLAYS = 10;
/** Number of positions that one statement counts. */
const COUNT_STEP = 50_000;
/** An event is stored after it occurred, unless the clocks of two hosts differ. */
const CLOCK_TOLERANCE = `interval '5 minutes'`;

interface DeliveryRow extends Omit<Delivery, 'next_attempt_at' | 'delivered_at'> {
  id: string;
  next_attempt_at: Date;
  delivered_at: Date | null;
}

/** Lists an account's deliveries, and starts pings, retries and replays. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pages: KeysetPaginator,
    private readonly clock: Clock,
    private readonly worker: DeliveryWorker,
  ) {}

  /** Lists deliveries, newest first. @throws ApiError WEBHOOK_NOT_FOUND, VALIDATION_FAILED */
  async list({ account }: Caller, webhookId: string, query: ListQuery): Promise<Page<Delivery>> {
    const state = readOneOf('state', lastOf(query['state']), DELIVERY_STATES);
    const { key } = await this.find(this.dataSource.manager, account, webhookId);
    const page = this.pages.request<[id: string]>({ name: 'deliveries' }, query, `${account}/${key}`);
    const where = new Conditions().and`webhook = ${key}`;
    // Literals, because a partial index serves a query only if the query names the state.
    if (state === 'failed') where.and`state = 'failed'`;
    else if (state === 'pending') where.and`state = 'pending'`;
    else if (state) where.and`state = 'delivered'`;
    if (page.after) where.and`id < ${page.after[0]}`;
    const rows = await this.dataSource.query<DeliveryRow[]>(
      `select id, event_id, type, state, attempts, last_status, last_error, next_attempt_at, delivered_at
       from deliveries where ${where} order by id desc limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.respond(rows, ({ id }) => [id], toDelivery);
  }

  /** Delivers `webhook.ping`, also to a disabled webhook. @throws ApiError WEBHOOK_NOT_FOUND */
  async ping({ account }: Caller, webhookId: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const { key } = await this.find(manager, account, webhookId, true);
      await manager.query(
        `insert into deliveries (webhook, event_id, type, requested, next_attempt_at, created_at)
         values ($1, $2, 'webhook.ping', true, $3, $3)`,
        [key, randomBytes(PING_ID_BYTES).toString('base64url'), new Date(this.clock.now())],
      );
    });
    this.worker.wake();
  }

  /**
   * Makes one delivery due now, whatever its state. In an ordered webhook, earlier ones of its subject come first.
   *
   * @throws ApiError WEBHOOK_NOT_FOUND, EVENT_NOT_FOUND, WEBHOOK_DISABLED
   */
  async retry({ account }: Caller, webhookId: string, eventId: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const webhook = await this.find(manager, account, webhookId, true);
      const [, count] = await manager.query<[unknown, number]>(
        // Materialized: without statistics of a new webhook, the plan could join all its deliveries with each other.
        `with d as materialized (
           select p.webhook, p.id, p.position, case when $4 then ${subjectHashOf('$5')} end as subject_hash
           from deliveries p where p.webhook = $1 and p.event_id = $2
         )
         update deliveries r
         set state = 'pending', requested = true, next_attempt_at = $3, lease_until = null, delivered_at = null,
           subject_hash = d.subject_hash, held = ${EARLIER} is true
         from d where r.webhook = d.webhook and r.id = d.id`,
        [webhook.key, eventId, new Date(this.clock.now()), webhook.ordered, account],
      );
      if (count === 0) throw new ApiError('EVENT_NOT_FOUND', 'The webhook has no delivery of this event');
      requireEnabled(webhook);
    });
    this.worker.wake();
  }

  /**
   * Delivers stored events again, under the same ids.
   *
   * @returns the number of events
   * @throws ApiError WEBHOOK_NOT_FOUND, WEBHOOK_DISABLED, TOO_MANY_REQUESTS, VALIDATION_FAILED
   */
  async replay({ account }: Caller, webhookId: string, body: ReplayWebhookDto): Promise<{ events: number }> {
    const from = new Date(body.from);
    const to = body.to ? new Date(body.to) : new Date(this.clock.now());
    if (body.to && from > to) throw invalidField('to', 'must not be before from');
    const { types } = await this.find(this.dataSource.manager, account, webhookId);
    const found = await this.count(account, from, to, types);
    await this.dataSource.transaction(async (manager) => {
      const webhook = await this.find(manager, account, webhookId, true);
      requireEnabled(webhook);
      const [{ running }] = await manager.query(
        'select count(*)::int as running from webhook_replays where webhook = $1',
        [webhook.key],
      );
      if (running >= MAX_REPLAYS)
        throw new ApiError('TOO_MANY_REQUESTS', `${MAX_REPLAYS} replays of the webhook are running`);
      if (found.events > 0)
        await manager.query(
          `insert into webhook_replays (webhook, position, until_position, from_time, to_time)
           values ($1, $2, $3, $4, $5)`,
          [webhook.key, found.first - 1, found.last, from, to],
        );
    });
    this.worker.wake();
    return { events: found.events };
  }

  /**
   * Returns the number of events in a time range, and their first and last position. Counts in steps, so that no
   * statement takes long.
   */
  private async count(account: string, from: Date, to: Date, types: string[] | null) {
    const [{ after, end }] = await this.dataSource.query<[{ after: number; end: number }]>(
      `with recursive ${searchTime(`$2::timestamptz - ${CLOCK_TOLERANCE}`)}
       select last::float8 as end, (select max(low) from search)::float8 as after from head`,
      [account, from],
    );
    const total = { events: 0, first: Infinity, last: 0 };
    for (let before = after; before < end; before += COUNT_STEP) {
      const [{ events, first, last }]: [{ events: number; first: number | null; last: number | null }] =
        await this.dataSource.query(
          `select count(*)::int as events, min(position)::float8 as first, max(position)::float8 as last from events
         where account_id = $1 and position > $2 and position <= $3 and occurred_at between $4 and $5
           and ($6::text[] is null or type = any($6))`,
          [account, before, Math.min(end, before + COUNT_STEP), from, to, types],
        );
      total.events += events;
      total.first = Math.min(total.first, first ?? Infinity);
      total.last = last ?? total.last;
    }
    return total;
  }

  /**
   * @param isLocked true to lock the webhook until the end of the transaction, so that nobody deletes or disables it
   */
  private async find(manager: EntityManager, account: string, id: string, isLocked = false) {
    const webhook = await manager.findOne(WebhookEntity, {
      where: { account_id: account, id },
      ...(isLocked ? { lock: { mode: 'pessimistic_write' } } : {}),
    });
    if (!webhook) throw new ApiError('WEBHOOK_NOT_FOUND');
    return webhook;
  }
}

function requireEnabled({ enabled }: WebhookEntity) {
  if (!enabled) throw new ApiError('WEBHOOK_DISABLED');
}

const toDelivery = ({ id: _, next_attempt_at, delivered_at, ...row }: DeliveryRow): Delivery => ({
  ...row,
  next_attempt_at: row.state === 'pending' ? next_attempt_at.toISOString() : null,
  delivered_at: delivered_at?.toISOString() ?? null,
});
