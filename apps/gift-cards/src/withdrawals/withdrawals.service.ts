import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, invalidField, isUuid, type Caller } from '@perkway/domain';
import { hash } from 'node:crypto';
import { DataSource, Repository } from 'typeorm';
import { CardVault } from '../cards/card-vault.js';
import { derivedId } from '../derived-id.js';
import { PoolEntity } from '../pools/pool.entity.js';
import type { WithdrawCards, Withdrawal } from './withdrawal.dto.js';
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
    cancelled::float8, redeemed::float8, redeemed_links, created_at, finished_at
  from withdrawals w`;

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
    { reason, reserved, batch, load_id, codes, valid_until_before }: WithdrawCards,
  ): Promise<Withdrawal> {
    if (!isUuid(idempotencyKey)) throw invalidField('Idempotency-Key', 'must be a UUID');
    const given = { batch, load_id, codes, valid_until_before };
    if (SELECTORS.filter((name) => given[name] != null).length !== 1)
      throw invalidField(SELECTORS.join(', '), 'must have exactly one value');
    await this.requirePool(poolId);
    // Loads trim codes before they hash them, too.
    const hashes = codes ? [...new Set(codes.map((code) => this.vault.hash(code.trim())))].sort() : null;
    const values = [
      poolId.toLowerCase(),
      reason,
      reserved,
      batch?.trim() ?? null,
      load_id?.toLowerCase() ?? null,
      hashes,
      valid_until_before ?? null,
    ];
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

  private async requirePool(poolId: string) {
    if (!isUuid(poolId) || !(await this.pools.existsBy({ id: poolId }))) throw new ApiError('POOL_NOT_FOUND');
  }
}
