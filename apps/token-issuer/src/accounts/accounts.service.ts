import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  fitsCurrency,
  invalidField,
  isCurrency,
  type Approvals,
  type Brand,
  type ResolvedAccount,
} from '@perkway/domain';
import {
  listResources,
  lockRow,
  KeysetPaginator,
  upsertResource,
  requireFound,
  timesOf,
  type ListQuery,
  type Page,
  type Settings,
} from '@perkway/platform';
import { Any, DataSource, Repository } from 'typeorm';
import type { AccountResource, ApprovalsDto, PutAccountDto } from './account.dto.js';
import { AccountEntity } from './account.entity.js';
import { normalizeOrigin } from './origin.js';

const toResource = (account: AccountEntity): AccountResource => ({ ...account, ...timesOf(account) });

@Injectable()
export class AccountsService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    private readonly pages: KeysetPaginator,
  ) {}

  /** Returns a page sorted by id. @throws ApiError VALIDATION_FAILED */
  list(query: ListQuery): Promise<Page<AccountResource>> {
    return listResources<AccountEntity, AccountResource>(this.dataSource, this.pages, query, {
      name: 'accounts',
      select: 'select * from accounts',
      search: ['id', 'name'],
      toItem: toResource,
    });
  }

  /** @throws ApiError ACCOUNT_NOT_FOUND */
  async get(id: string): Promise<AccountResource> {
    return requireFound(await this.find(this.accounts, id), 'ACCOUNT_NOT_FOUND');
  }

  /**
   * Creates the account or replaces its settings; its keys and people stay.
   * @throws ApiError PRECONDITION_FAILED, VALIDATION_FAILED
   */
  async put(
    id: string,
    { name, allowed_origins, brand, approvals }: PutAccountDto,
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
    const wanted: Settings<AccountResource> = {
      id,
      name,
      allowed_origins: origins,
      brand: kept,
      approvals: approvals ? toApprovals(approvals) : null,
    };
    return this.dataSource.transaction(async (manager) => {
      await lockRow(manager, 'accounts', id);
      const accounts = manager.getRepository(AccountEntity);
      return upsertResource<AccountResource>(
        ifMatch,
        wanted,
        () => this.find(accounts, id),
        async (times) => void (await accounts.upsert({ ...wanted, ...times }, ['id'])),
      );
    });
  }

  /** Returns the existing accounts, by id. */
  async resolve(ids: string[]): Promise<Record<string, ResolvedAccount>> {
    const accounts = await this.accounts.find({
      select: { id: true, name: true, allowed_origins: true },
      where: { id: Any(ids) },
    });
    return Object.fromEntries(
      accounts.map(({ id, name, allowed_origins }) => [id, { name, allowedOrigins: allowed_origins }]),
    );
  }

  /** Returns those of the origins that any account lists. */
  async listedOrigins(origins: string[]): Promise<Record<string, true>> {
    const rows = await this.accounts.query<{ origin: string }[]>(
      `select origin from unnest($1::text[]) as origin
       where exists (select from accounts where allowed_origins @> array[origin])`,
      [origins],
    );
    return Object.fromEntries(rows.map(({ origin }) => [origin, true]));
  }

  /** Returns the brands of the existing accounts, by id. */
  async brands(ids: string[]): Promise<Record<string, Brand | null>> {
    const accounts = await this.accounts.find({ select: { id: true, brand: true }, where: { id: Any(ids) } });
    return Object.fromEntries(accounts.map(({ id, brand }) => [id, brand]));
  }

  private async find(accounts: Repository<AccountEntity>, id: string): Promise<AccountResource | undefined> {
    const account = await accounts.findOneBy({ id });
    return account ? toResource(account) : undefined;
  }
}

/** Returns null if the account needs no approval at all. @throws ApiError VALIDATION_FAILED */
function toApprovals({ links, amount }: ApprovalsDto): Approvals | null {
  const amounts = (amount ?? []).map(({ currency, amount: value }) => ({ currency, amount: value }));
  for (const [index, { currency, amount: value }] of amounts.entries()) {
    const field = `approvals.amount.${index}`;
    if (!isCurrency(currency)) throw invalidField(`${field}.currency`, 'must be an upper-case ISO 4217 code');
    if (amounts.findIndex((other) => other.currency === currency) < index)
      throw invalidField(`${field}.currency`, 'must not repeat the currency of another entry');
    if (!fitsCurrency(value, currency))
      throw invalidField(`${field}.amount`, `must have no more decimals than ${currency} has`);
  }
  if (links == null && amounts.length === 0) return null;
  return { ...(links != null && { links }), ...(amounts.length > 0 && { amount: amounts }) };
}
