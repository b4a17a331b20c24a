import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, ERASE, invalidField, isUuid, type ErasureKind } from '@perkway/domain';
import { exactTime, KeysetPaginator, type ListQuery, type Page } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import { DataSource, Repository } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import type { ErasureResource, RequestErasureDto } from './erasure.dto.js';
import { ErasureRunner } from './erasure-runner.js';
import { ROUNDS } from './rounds.js';

interface Row {
  id: string;
  account_id: string;
  kind: ErasureKind;
  requested_at: Date;
  completed_at: Date | null;
  round: number;
  last_round: number;
  done: string[];
  position: string;
}

const COLUMNS = `
  id, account_id, kind, requested_at, completed_at, round, last_round, done, ${exactTime('requested_at')} as position`;
/** A repeated request restarts a running erasure, because new data may be in apps that are already done. */
const ADD = `
  insert into erasures (id, account_id, kind, subject) values ($1, $2, $3, $4)
  on conflict (account_id, kind, subject) where subject is not null do update
    set round = erasures.round + 1, last_round = erasures.round + ${ROUNDS}, done = '{}', due_at = now()
  returning ${COLUMNS}`;

/** Stores the erasure requests of accounts and their progress. */
@Injectable()
export class ErasuresService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    private readonly pages: KeysetPaginator,
    private readonly runner: ErasureRunner,
  ) {}

  /**
   * Starts an erasure; a running one for the same subject starts again and keeps its receipt.
   * @throws ApiError VALIDATION_FAILED, ACCOUNT_NOT_FOUND
   */
  async request(account: string, { journey_id, customer_id }: RequestErasureDto): Promise<ErasureResource> {
    const [journey, customer] = [journey_id ?? undefined, customer_id ?? undefined];
    if ((journey === undefined) === (customer === undefined))
      throw invalidField('journey_id', 'or `customer_id` must be given, but not both');
    await this.requireAccount(account);
    const kind: ErasureKind = journey === undefined ? 'customer_id' : 'journey_id';
    const [row] = await this.dataSource.query<Row[]>(ADD, [randomUUID(), account, kind, journey ?? customer]);
    this.runner.wake();
    return toResource(row!);
  }

  /** Lists erasures, newest first. @throws ApiError ACCOUNT_NOT_FOUND, VALIDATION_FAILED */
  async list(account: string, query: ListQuery): Promise<Page<ErasureResource>> {
    const page = this.pages.request<[time: string, id: string]>({ name: 'erasures' }, query, account);
    await this.requireAccount(account);
    const rows = await this.dataSource.query<Row[]>(
      `select ${COLUMNS} from erasures
       where account_id = $1 and ($2::timestamptz is null or (requested_at, id) < ($2, $3::uuid))
       order by requested_at desc, id desc limit $4`,
      [account, page.after?.[0] ?? null, page.after?.[1] ?? null, page.rows],
    );
    return page.respond(rows, ({ position, id }) => [position, id], toResource);
  }

  /** @throws ApiError ACCOUNT_NOT_FOUND, ERASURE_NOT_FOUND */
  async get(account: string, id: string): Promise<ErasureResource> {
    await this.requireAccount(account);
    const [row] = isUuid(id)
      ? await this.dataSource.query<Row[]>(
          `select ${COLUMNS} from erasures where id = $1 and account_id = $2`,
          [id, account],
        )
      : [];
    if (!row) throw new ApiError('ERASURE_NOT_FOUND');
    return toResource(row);
  }

  private async requireAccount(id: string): Promise<void> {
    if (!(await this.accounts.existsBy({ id }))) throw new ApiError('ACCOUNT_NOT_FOUND');
  }
}

const toResource = ({
  id,
  account_id,
  kind,
  requested_at,
  completed_at,
  round,
  last_round: lastRound,
  done,
}: Row): ErasureResource => ({
  id,
  account_id,
  kind,
  state: completed_at ? 'done' : 'running',
  requested_at: requested_at.toISOString(),
  completed_at: completed_at?.toISOString() ?? null,
  parts: Object.fromEntries(
    Object.keys(ERASE).map((app) => [
      app,
      completed_at || (round === lastRound && done.includes(app)) ? 'done' : 'waiting',
    ]),
  ),
});
