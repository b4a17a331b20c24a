import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, invalidField, isUuid, type Caller } from '@perkway/domain';
import { hash } from 'node:crypto';
import { DataSource, Repository } from 'typeorm';
import { CardVault } from '../cards/card-vault.js';
import { derivedId } from '../derived-id.js';
import { PoolEntity } from '../pools/pool.entity.js';
import type { CountedCards, WithdrawCards, Withdrawal, WithdrawalCheck } from './withdrawal.dto.js';
import { WithdrawalRunner } from './withdrawal-runner.js';

/** Number of withdrawals that the list of a pool shows, newest first. */
const LISTED = 50;
const SELECTORS = ['batch', 'load_id', 'codes', 'valid_until_before'] as const;

const SELECT = `
  select id, state, reason, reserved, batch, load_id, valid_until_before::text, withdrawn_by(id)::float8 as withdrawn,
    (
      select count(*)::float8 from reward_links l
      where l.recalled_by = w.id and l.revealed_at is null and not l.released and l.expires_at > now()
    ) as kept,
    cancelled::float8, cancelled_links, redeemed::float8, redeemed_links, created_at, finished_at
  from withdrawals w`;

const COUNT = `
  select i.denomination::float8, i.currency,
    count(*) filter (where l.id is null or l.revealed_at is null and l.expires_at <= now())::float8 as free,
    count(*) filter (where l.revealed_at is null and l.expires_at > now())::float8 as reserved,
    count(*) filter (where l.revealed_at is not null)::float8 as redeemed
  from inventories i
  join cards c on c.inventory_id = i.id
  left join reward_links l on l.card_id = c.id and not l.released
  where i.pool_id = $1
    and ($2::text is null or c.batch = $2)
    and ($3::uuid is null or c.load_id = $3)
    and ($4::uuid[] is null or c.code_hash = any ($4))
    and ($5::date is null or i.valid_until < $5)
    and not exists (select from withdrawn_cards w where w.card_id = c.id)
    -- The card of a kept link counts as withdrawn once the link has ended.
    and not (l.recalled_by is not null and l.revealed_at is null and l.expires_at <= now())
  group by i.denomination, i.currency
  order by i.currency, i.denomination`;

@Injectable()
export class WithdrawalsService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(PoolEntity) private readonly pools: Repository<PoolEntity>,
    private readonly vault: CardVault,
    private readonly runner: WithdrawalRunner,
  ) {}

  /**
   * Starts a withdrawal, or returns the one that this account started with the same key and the same request.
   *
   * @throws VALIDATION_FAILED, POOL_NOT_FOUND, IDEMPOTENCY_KEY_CONFLICT
   */
  async create(
    { account }: Caller,
    poolId: string,
    idempotencyKey: unknown,
    body: WithdrawCards,
  ): Promise<Withdrawal> {
    if (!isUuid(idempotencyKey)) throw invalidField('Idempotency-Key', 'must be a UUID');
    const selection = this.selectionOf(body);
    await this.requirePool(poolId);
    const values = [poolId.toLowerCase(), body.reason, body.reserved, ...selection];
    // `values` has hashes of the codes, so the digest reveals no code.
    const digest = hash('sha256', JSON.stringify(values));
    const id = derivedId('withdrawal', account, idempotencyKey.toLowerCase());
    await this.dataSource.query(
      `insert into withdrawals
         (id, account, body_digest, pool_id, reason, reserved, batch, load_id, code_hashes, valid_until_before)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
      [id, account, digest, ...values],
    );
    const [stored]: (Withdrawal & { body_digest: string })[] = await this.dataSource.query(
      'select body_digest from withdrawals where id = $1',
      [id],
    );
    if (stored!.body_digest !== digest) throw new ApiError('IDEMPOTENCY_KEY_CONFLICT');
    this.runner.wake();
    return this.get(poolId, id);
  }

  /**
   * Counts the cards that a withdrawal with this body would find now. Stores nothing.
   *
   * @throws VALIDATION_FAILED, POOL_NOT_FOUND
   */
  async check(poolId: string, body: WithdrawCards): Promise<WithdrawalCheck> {
    const selection = this.selectionOf(body);
    await this.requirePool(poolId);
    const values = await this.dataSource.query<CountedCards[]>(COUNT, [poolId, ...selection]);
    const sum = (of: 'free' | 'reserved' | 'redeemed') =>
      values.reduce((total, value) => total + value[of], 0);
    return { free: sum('free'), reserved: sum('reserved'), redeemed: sum('redeemed'), values };
  }

  /** @throws POOL_NOT_FOUND, WITHDRAWAL_NOT_FOUND */
  async get(poolId: string, id: string): Promise<Withdrawal> {
    await this.requirePool(poolId);
    const [withdrawal]: Withdrawal[] = isUuid(id)
      ? await this.dataSource.query(`${SELECT} where pool_id = $1 and id = $2`, [poolId, id])
      : [];
    if (!withdrawal) throw new ApiError('WITHDRAWAL_NOT_FOUND');
    return withdrawal;
  }

  /** @throws POOL_NOT_FOUND */
  async list(poolId: string): Promise<Withdrawal[]> {
    await this.requirePool(poolId);
    return this.dataSource.query(
      `${SELECT} where pool_id = $1 order by created_at desc, id desc limit ${LISTED}`,
      [poolId],
    );
  }

  /** Returns the values of the four selectors, three of them null. @throws VALIDATION_FAILED */
  private selectionOf({ batch, load_id, codes, valid_until_before }: WithdrawCards) {
    const given = { batch, load_id, codes, valid_until_before };
    if (SELECTORS.filter((name) => given[name] != null).length !== 1)
      throw invalidField(SELECTORS.join(', '), 'must have exactly one value');
    // Loads trim codes before they hash them, too.
    const hashes = codes ? [...new Set(codes.map((code) => this.vault.hash(code.trim())))].sort() : null;
    return [batch?.trim() ?? null, load_id?.toLowerCase() ?? null, hashes, valid_until_before ?? null];
  }

  private async requirePool(poolId: string) {
    if (!isUuid(poolId) || !(await this.pools.existsBy({ id: poolId }))) throw new ApiError('POOL_NOT_FOUND');
  }
}
