import { Injectable } from '@nestjs/common';
import { AccountDirectory } from '@perkway/directory';
import {
  ADVISORY_LOCKS,
  ApiError,
  fitsCurrency,
  invalidField,
  isCurrency,
  isUuid,
  lastOf,
  type Caller,
} from '@perkway/domain';
import {
  Conditions,
  isText,
  KeysetPaginator,
  listResources,
  requireDeletable,
  requireFound,
  timesOf,
  upsertResource,
  type ListQuery,
  type Page,
  type Settings,
} from '@perkway/platform';
import { isDeepStrictEqual } from 'node:util';
import { DataSource, type EntityManager } from 'typeorm';
import type { LimitResource, LimitUsage, PutLimit } from './limit.dto.js';
import { LimitEntity } from './limit.entity.js';

const MAX_VALUE = 255;
/** Maximum number of limits per account. Every reservation checks all of them. */
const MAX_LIMITS = 100;
/** Postgres also accepts offsets and POSIX rules, which are not IANA names. */
const TIMEZONE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/** Manages the limits of all accounts, and shows an account its own (docs/adr/0041-limits.md). */
@Injectable()
export class LimitsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly accounts: AccountDirectory,
    private readonly pages: KeysetPaginator,
  ) {}

  /** Lists the limits of all accounts by id. @throws ApiError VALIDATION_FAILED */
  listStored(query: ListQuery): Promise<Page<LimitResource>> {
    return listResources<LimitEntity, LimitResource>(this.dataSource, this.pages, query, {
      name: 'limits',
      select: 'select * from limits',
      id: 'id collate "C"',
      search: ['id'],
      owner: 'owner',
      toItem: toLimit,
    });
  }

  /** @throws ApiError LIMIT_NOT_FOUND */
  async getStored(id: string): Promise<LimitResource> {
    return requireFound(await this.find(this.dataSource.manager, id), 'LIMIT_NOT_FOUND');
  }

  /** Creates or replaces a limit. @throws ApiError PRECONDITION_FAILED, VALIDATION_FAILED, TOO_MANY_LIMITS */
  async put(id: string, body: PutLimit, ifMatch?: string): Promise<LimitResource> {
    const wanted = toSettings(id, body);
    const { owner } = wanted;
    await this.accounts.require('owner', owner);
    await this.requireTimezone(wanted.timezone);
    return this.change((manager) =>
      upsertResource<LimitResource>(
        ifMatch,
        wanted,
        () => this.find(manager, id),
        async (times, current) => {
          if (
            current?.owner !== wanted.owner &&
            (await manager.countBy(LimitEntity, { owner })) >= MAX_LIMITS
          )
            throw new ApiError('TOO_MANY_LIMITS');
          const { only, ...columns } = wanted;
          await manager.upsert(
            LimitEntity,
            {
              ...columns,
              ...times,
              links: wanted.links === null ? null : String(wanted.links),
              amount: wanted.amount === null ? null : String(wanted.amount),
              only_pool: only?.pool_id ?? null,
              only_campaign: only?.campaign_id ?? null,
            },
            ['id'],
          );
          if (current && !isDeepStrictEqual(countedBy(current), countedBy(wanted)))
            await manager.query('delete from limit_counts where limit_id = $1', [id]);
        },
      ),
    );
  }

  /** @throws ApiError LIMIT_NOT_FOUND, PRECONDITION_FAILED */
  delete(id: string, ifMatch?: string): Promise<void> {
    return this.change(async (manager) => {
      requireDeletable(ifMatch, await this.find(manager, id), 'LIMIT_NOT_FOUND');
      await manager.query('delete from limit_counts where limit_id = $1', [id]);
      await manager.delete(LimitEntity, id);
    });
  }

  /** Lists the account's limits by id. @throws ApiError VALIDATION_FAILED */
  async list({ account }: Caller, query: ListQuery): Promise<Page<LimitResource>> {
    const page = this.pages.request<[id: string]>({ name: 'own-limits' }, query, account);
    const where = new Conditions().and`owner = ${account}`;
    if (page.after) where.and`id collate "C" > ${page.after[0]}`;
    const rows = await this.dataSource.query<LimitEntity[]>(
      `select * from limits where ${where} order by id collate "C" limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.respond(rows, ({ id }) => [id], toLimit);
  }

  /** @throws ApiError LIMIT_NOT_FOUND, also for another account's limit */
  async get({ account }: Caller, id: string): Promise<LimitResource> {
    const limit = await this.find(this.dataSource.manager, id);
    if (limit?.owner !== account) throw new ApiError('LIMIT_NOT_FOUND');
    return limit;
  }

  /** @throws ApiError LIMIT_NOT_FOUND, VALIDATION_FAILED */
  async usage(caller: Caller, id: string, given: unknown): Promise<LimitUsage> {
    return this.usageOf(await this.get(caller, id), given, caller);
  }

  /**
   * Returns the usage of a limit of any account.
   * @param given the value of `per`; for `key_id`, the `counted_as` of the key
   * @throws ApiError LIMIT_NOT_FOUND, VALIDATION_FAILED
   */
  async storedUsage(id: string, given: unknown): Promise<LimitUsage> {
    return this.usageOf(await this.getStored(id), given);
  }

  private async usageOf(limit: LimitResource, given: unknown, caller?: Caller): Promise<LimitUsage> {
    const value = limit.per === 'account' ? limit.owner : readValue(limit, lastOf(given));
    // Links of a rotated key are counted under the first one.
    const counted = limit.per === 'key_id' && value === caller?.keyId ? caller.countedAs : value;
    const [used]: { period_start: Date; resets_at: Date | null; links: string; amount: string }[] =
      await this.dataSource.query('select * from limit_usage($1, $2)', [limit.id, counted]);
    if (!used) throw new ApiError('LIMIT_NOT_FOUND');
    const { links, amount, currency } = limit;
    return {
      value,
      period_start: used.period_start.toISOString(),
      resets_at: used.resets_at && used.resets_at.toISOString(),
      ...(links !== null && { links: { limit: links, used: Number(used.links) } }),
      ...(amount !== null &&
        currency !== null && { amount: { limit: amount, used: Number(used.amount), currency } }),
    };
  }

  /**
   * Runs a change while no reservation is in progress: each of them either counts for the new limit, or is committed
   * before the links of the period are counted.
   */
  private change<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.giftCardCounting})`);
      return work(manager);
    });
  }

  /** @throws ApiError VALIDATION_FAILED if the database does not know the time zone */
  private async requireTimezone(timezone: string): Promise<void> {
    const known: unknown[] = TIMEZONE.test(timezone)
      ? await this.dataSource.query('select from pg_timezone_names where name = $1 limit 1', [timezone])
      : [];
    if (known.length === 0) throw invalidField('timezone', 'must be an IANA time zone such as Europe/Paris');
  }

  private async find(manager: EntityManager, id: string): Promise<LimitResource | undefined> {
    const limit = await manager.findOneBy(LimitEntity, { id });
    return limit ? toLimit(limit) : undefined;
  }
}

function readValue({ per }: LimitResource, value: unknown): string {
  if (!isText(value, 1, MAX_VALUE))
    throw invalidField('value', `must be a ${per} of 1 to ${MAX_VALUE} characters`);
  if (per !== 'pool_id') return value;
  if (!isUuid(value)) throw invalidField('value', 'must be a UUID');
  return value.toLowerCase();
}

/** Limits that are equal in these fields have the same counters. */
const countedBy = ({
  owner,
  currency,
  period,
  timezone,
  per,
  only,
}: Settings<LimitResource>): Partial<LimitResource> => ({ owner, currency, period, timezone, per, only });

/** @throws ApiError VALIDATION_FAILED */
function toSettings(id: string, body: PutLimit): Settings<LimitResource> {
  const { owner, period } = body;
  const [links, amount, currency] = [body.links ?? null, body.amount ?? null, body.currency ?? null];
  if (links === null && amount === null) throw invalidField('links', 'or amount must be given');
  if (currency !== null && !isCurrency(currency))
    throw invalidField('currency', 'must be an upper-case ISO 4217 code');
  if (amount === null && currency !== null) throw invalidField('amount', 'must be given with currency');
  if (amount !== null) {
    if (currency === null) throw invalidField('currency', 'must be given with amount');
    if (!(amount > 0) || !fitsCurrency(amount, currency))
      throw invalidField('amount', `must be above 0, with no more decimals than ${currency} has`);
  }
  const pool = body.only?.pool_id?.toLowerCase();
  const campaign = body.only?.campaign_id ?? undefined;
  return {
    id,
    owner,
    links,
    amount,
    currency,
    period,
    timezone: body.timezone ?? 'UTC',
    per: body.per ?? 'account',
    only: toOnly(pool, campaign),
  };
}

const toOnly = (pool?: string | null, campaign?: string | null): LimitResource['only'] =>
  pool || campaign
    ? { ...(pool ? { pool_id: pool } : {}), ...(campaign ? { campaign_id: campaign } : {}) }
    : null;

const toLimit = (limit: LimitEntity): LimitResource => ({
  id: limit.id,
  owner: limit.owner,
  links: limit.links === null ? null : Number(limit.links),
  amount: limit.amount === null ? null : Number(limit.amount),
  currency: limit.currency,
  period: limit.period,
  timezone: limit.timezone,
  per: limit.per,
  only: toOnly(limit.only_pool, limit.only_campaign),
  ...timesOf(limit),
});
