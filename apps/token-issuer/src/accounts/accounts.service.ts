import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Brand, type ResolvedAccount } from '@perkway/domain';
import {
  listStored,
  lockRow,
  Pages,
  putStored,
  requireFound,
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
  list(query: ListQuery): Promise<Page<AccountResource>> {
    return listStored<AccountEntity, AccountResource>(this.dataSource, this.pages, query, {
      name: 'accounts',
      select: 'select * from accounts',
      search: ['id', 'name'],
      toItem: toResource,
    });
  }

  /** @throws DomainError ACCOUNT_NOT_FOUND */
  async get(id: string): Promise<AccountResource> {
    return requireFound(await this.find(this.accounts, id), 'ACCOUNT_NOT_FOUND');
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
