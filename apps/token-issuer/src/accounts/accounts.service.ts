import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Brand, ResolvedAccount } from '@perkway/domain';
import { Any, Repository } from 'typeorm';
import type { AccountResource, PutAccountDto } from './account.dto.js';
import { AccountEntity } from './account.entity.js';
import { normalizeOrigin } from './origin.js';

@Injectable()
export class AccountsService {
  constructor(@InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>) {}

  /** Makes the account, or replaces what is known of it; its keys stay. */
  async put(id: string, { name, allowed_origins, brand }: PutAccountDto): Promise<AccountResource> {
    const origins = [...new Set((allowed_origins ?? []).map((origin) => normalizeOrigin(origin)!))];
    const kept: Brand | null = brand
      ? { name: brand.name, color: brand.color?.toLowerCase() ?? null, logo: brand.logo ?? null }
      : null;
    const account: AccountResource = { id, name, allowed_origins: origins, brand: kept };
    // Of a copy, because it is given the columns that the database fills in.
    await this.accounts.upsert({ ...account }, ['id']);
    return account;
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
}
