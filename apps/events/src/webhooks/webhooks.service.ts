import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Caller } from '@perkway/domain';
import {
  Clock,
  Conditions,
  ENV,
  lockRow,
  KeysetPaginator,
  upsertResource,
  requireDeletable,
  requireFound,
  timesOf,
  type ListQuery,
  type Page,
  type Settings,
} from '@perkway/platform';
import { newWebhookSecret, seal } from '@perkway/signing';
import { DataSource, type EntityManager } from 'typeorm';
import { secretContext, WEBHOOK_SECRET } from '../deliveries/delivery-engine.js';
import { DeliveryQueue } from '../deliveries/delivery-queue.js';
import { DeliveryWorker } from '../deliveries/delivery-worker.js';
import { NetworkPolicy } from '../deliveries/network-policy.js';
import { RESOLVE, type Resolve } from '../deliveries/resolver.js';
import { checkWebhookUrl, ForbiddenUrlError } from '../deliveries/webhook-url.js';
import type { EventsEnv } from '../env.js';
import { MAX_WEBHOOKS, type NewWebhook, type PutWebhook, type Webhook } from './webhook.dto.js';
import { WebhookEntity } from './webhook.entity.js';

const ROTATION_OVERLAP_MS = 24 * 60 * 60_000;

/** Manages the webhooks of an account. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pages: KeysetPaginator,
    private readonly queue: DeliveryQueue,
    private readonly worker: DeliveryWorker,
    private readonly clock: Clock,
    private readonly policy: NetworkPolicy,
    @Inject(RESOLVE) private readonly resolve: Resolve,
    @Inject(ENV) private readonly env: EventsEnv,
  ) {}

  /** Lists webhooks by id. @throws ApiError VALIDATION_FAILED */
  async list({ account }: Caller, query: ListQuery): Promise<Page<Webhook>> {
    const page = this.pages.request<[id: string]>({ name: 'webhooks' }, query, account);
    const where = new Conditions().and`account_id = ${account}`;
    if (page.after) where.and`id collate "C" > ${page.after[0]}`;
    const rows = await this.dataSource.query<WebhookEntity[]>(
      `select * from webhooks where ${where} order by id collate "C" limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.respond(rows, ({ id }) => [id], toWebhook);
  }

  /** @throws ApiError WEBHOOK_NOT_FOUND */
  async get({ account }: Caller, id: string): Promise<Webhook> {
    const row = await this.dataSource.manager.findOneBy(WebhookEntity, { account_id: account, id });
    return toWebhook(requireFound(row ?? undefined, 'WEBHOOK_NOT_FOUND'));
  }

  /**
   * Creates a webhook, with its secret, or replaces its settings.
   *
   * @throws ApiError URL_FORBIDDEN, TOO_MANY_WEBHOOKS, PRECONDITION_FAILED
   */
  async put(caller: Caller, id: string, body: PutWebhook, ifMatch?: string): Promise<Webhook | NewWebhook> {
    await checkWebhookUrl(body.url, this.policy, this.resolve).catch((error: Error) => {
      throw error instanceof ForbiddenUrlError
        ? new ApiError('URL_FORBIDDEN', `url ${error.message}`, [{ field: 'url', message: error.message }])
        : error;
    });
    const { account } = caller;
    const secret = newWebhookSecret();
    let isNew = false;
    const stored = await this.dataSource.transaction(async (manager) => {
      await lockRow(manager, 'webhooks', account);
      const row = await this.lock(manager, account, id);
      const settings = toSettings(id, body, row);
      return upsertResource<Webhook>(
        ifMatch,
        settings,
        async () => {
          const current = await manager.findOneBy(WebhookEntity, { account_id: account, id });
          return current ? toWebhook(current) : undefined;
        },
        async (times) => {
          const changes = {
            ...settings,
            ...times,
            ...(settings.enabled && !row?.enabled ? await this.startNow(manager, account) : {}),
            ...(row?.url === settings.url ? {} : { failing_since: null }),
          };
          if (row?.enabled && !settings.enabled) await this.queue.endPending(manager, row.key);
          else if (row && row.ordered !== settings.ordered)
            await this.queue.setOrdered(manager, row.key, account, settings.ordered);
          if (row) return void (await manager.update(WebhookEntity, { key: row.key }, changes));
          await this.requireRoom(manager, account);
          isNew = true;
          const sealed = this.seal(account, id, secret);
          const start = await this.startNow(manager, account);
          await manager.insert(WebhookEntity, { account_id: account, secret: sealed, ...start, ...changes });
        },
      );
    });
    this.worker.wake();
    return isNew ? { ...stored, secret } : stored;
  }

  /** @throws ApiError WEBHOOK_NOT_FOUND, PRECONDITION_FAILED */
  async delete({ account }: Caller, id: string, ifMatch?: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const row = await this.lock(manager, account, id);
      requireDeletable(ifMatch, row && toWebhook(row), 'WEBHOOK_NOT_FOUND');
      await this.queue.endAll(manager, row!.key);
      await manager.delete(WebhookEntity, { key: row!.key });
    });
  }

  /** Creates a new secret. The previous one keeps signing for 24 hours. @throws ApiError WEBHOOK_NOT_FOUND */
  async rotate({ account }: Caller, id: string): Promise<{ secret: string }> {
    const secret = newWebhookSecret();
    await this.dataSource.transaction(async (manager) => {
      const row = requireFound(await this.lock(manager, account, id), 'WEBHOOK_NOT_FOUND');
      await manager.update(
        WebhookEntity,
        { key: row.key },
        {
          secret: this.seal(account, id, secret),
          previous_secret: row.secret,
          previous_secret_until: new Date(this.clock.now() + ROTATION_OVERLAP_MS),
        },
      );
    });
    return { secret };
  }

  private async lock(manager: EntityManager, account: string, id: string) {
    const row = await manager.findOne(WebhookEntity, {
      where: { account_id: account, id },
      lock: { mode: 'pessimistic_write' },
    });
    return row ?? undefined;
  }

  private async requireRoom(manager: EntityManager, account: string) {
    const count = await manager.countBy(WebhookEntity, { account_id: account });
    if (count >= MAX_WEBHOOKS) throw new ApiError('TOO_MANY_WEBHOOKS');
  }

  /** Returns the columns that make deliveries start with the next event. */
  private async startNow(manager: EntityManager, account: string) {
    const [feed]: { last_position: string }[] = await manager.query(
      'select last_position from feeds where account_id = $1',
      [account],
    );
    return {
      position: feed?.last_position ?? '0',
      enabled_at: new Date(this.clock.now()),
      failing_since: null,
    };
  }

  private seal(account: string, id: string, secret: string): Buffer {
    return seal(this.env.WEBHOOK_SECRET_KEYS, WEBHOOK_SECRET, secret, secretContext(account, id));
  }
}

/** If the service has disabled the webhook, the reason stays as long as the client leaves it disabled. */
const toSettings = (id: string, body: PutWebhook, row: WebhookEntity | undefined): Settings<Webhook> => {
  const enabled = body.enabled ?? true;
  return {
    id,
    url: body.url,
    types: body.types ?? null,
    ordered: body.ordered ?? false,
    enabled,
    description: body.description || null,
    failing_since: row?.failing_since?.toISOString() ?? null,
    disabled_at: enabled ? null : (row?.disabled_at?.toISOString() ?? null),
    disabled_reason: enabled ? null : (row?.disabled_reason ?? null),
  };
};

export const toWebhook = ({
  id,
  url,
  types,
  ordered,
  enabled,
  description,
  failing_since,
  disabled_at,
  disabled_reason,
  ...times
}: WebhookEntity): Webhook => ({
  id,
  url,
  types,
  ordered,
  enabled,
  description,
  failing_since: failing_since?.toISOString() ?? null,
  disabled_at: disabled_at?.toISOString() ?? null,
  disabled_reason,
  ...timesOf(times),
});
