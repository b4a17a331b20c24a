import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DomainError, type Brand, type ResolvedAccount } from '@perkway/domain';
import {
  Conditions,
  lockRow,
  Pages,
  putStored,
  searchOf,
  timesOf,
  type ListQuery,
  type Page,
  type Settings,
} from '@perkway/platform';
import { Any, DataSource, Repository } from 'typeorm';
import type { AccountResource, PutAccountDto } from './account.dto.js';
import { AccountEntity } from './account.entity.js';
import { normalizeOrigin } from './origin.js';

const toResource = (account: AccountEntity): AccountResource => ({ ...account, ...timesOf(account) });

@Injectable()
export class AccountsService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    private readonly pages: Pages,
  ) {}

  /** By id. @throws DomainError VALIDATION_FAILED */
  async list(query: ListQuery): Promise<Page<AccountResource>> {
    const page = this.pages.ask<[id: string]>({ name: 'accounts' }, query);
    const where = new Conditions().search(searchOf(query), 'id', 'name');
    if (page.after) where.and`id > ${page.after[0]}`;
    const rows = await this.dataSource.query<AccountEntity[]>(
      `select * from accounts where ${where} order by id limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.answer(rows, ({ id }) => [id], toResource);
  }

  /** @throws DomainError ACCOUNT_NOT_FOUND */
  async get(id: string): Promise<AccountResource> {
    const account = await this.find(this.accounts, id);
    if (!account) throw new DomainError('ACCOUNT_NOT_FOUND');
    return account;
  }

  /**
   * Makes the account, or replaces what is known of it; its keys and people stay.
   * @throws DomainError PRECONDITION_FAILED
   */
  put(
    id: string,
    { name, allowed_origins, brand }: PutAccountDto,
    ifMatch?: string,
  ): Promise<AccountResource> {
    const origins = [...new Set((allowed_origins ?? []).map((origin) => normalizeOrigin(origin)!))];
    const kept: Brand | null = brand
      ? {
          name: brand.name,
          color: brand.color?.toLowerCase() ?? null,
          logo: brand.logo ?? null,
          support_url: brand.support_url ?? null,
        }
      : null;
    const wanted: Settings<AccountResource> = { id, name, allowed_origins: origins, brand: kept };
    return this.dataSource.transaction(async (manager) => {
      await lockRow(manager, 'accounts', id);
      const accounts = manager.getRepository(AccountEntity);
      return putStored<AccountResource>(
        ifMatch,
        wanted,
        () => this.find(accounts, id),
        async (times) => void (await accounts.upsert({ ...wanted, ...times }, ['id'])),
      );
    });
  }

  /** Those that exist, by id. */
  async resolve(ids: string[]): Promise<Record<string, ResolvedAccount>> {
    const accounts = await this.accounts.find({
      select: { id: true, name: true, allowed_origins: true },
      where: { id: Any(ids) },
    });
    return Object.fromEntries(
      accounts.map(({ id, name, allowed_origins }) => [id, { name, allowedOrigins: allowed_origins }]),
    );
  }

  /** Those of the accounts that exist, by id. */
  async brands(ids: string[]): Promise<Record<string, Brand | null>> {
    const accounts = await this.accounts.find({ select: { id: true, brand: true }, where: { id: Any(ids) } });
    return Object.fromEntries(accounts.map(({ id, brand }) => [id, brand]));
  }

  private async find(accounts: Repository<AccountEntity>, id: string): Promise<AccountResource | undefined> {
    const account = await accounts.findOneBy({ id });
    return account ? toResource(account) : undefined;
  }
}
