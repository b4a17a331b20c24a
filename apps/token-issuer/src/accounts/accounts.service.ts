import { Injectable } from '@nestjs/common';
import type { Brand, ResolvedAccount } from '@perkway/domain';
import { DataSource } from 'typeorm';
import type { AccountResource, PutAccountDto } from './account.dto.js';
import { normalizeOrigin } from './origin.js';

const PUT = `
  insert into accounts (id, name, allowed_origins, brand)
  values ($1, $2, $3, $4)
  on conflict (id) do update
  set name = excluded.name, allowed_origins = excluded.allowed_origins, brand = excluded.brand, updated_at = now()`;

@Injectable()
export class AccountsService {
  constructor(private readonly dataSource: DataSource) {}

  /** Makes the account, or replaces what is known of it; its keys stay. */
  async put(id: string, { name, allowed_origins, brand }: PutAccountDto): Promise<AccountResource> {
    const origins = [...new Set((allowed_origins ?? []).map((origin) => normalizeOrigin(origin)!))];
    const kept: Brand | null = brand
      ? { name: brand.name, color: brand.color?.toLowerCase() ?? null, logo: brand.logo ?? null }
      : null;
    await this.dataSource.query(PUT, [id, name, origins, kept && JSON.stringify(kept)]);
    return { id, name, allowed_origins: origins, brand: kept };
  }

  async exists(id: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>('select 1 from accounts where id = $1', [id]);
    return rows.length > 0;
  }

  /** Those that exist, by id. */
  async resolve(ids: string[]): Promise<Record<string, ResolvedAccount>> {
    const rows = await this.dataSource.query<{ id: string; name: string; origins: string[] }[]>(
      'select id, name, allowed_origins as origins from accounts where id = any($1)',
      [ids],
    );
    return Object.fromEntries(rows.map(({ id, name, origins }) => [id, { name, allowedOrigins: origins }]));
  }

  /** Those of the accounts that exist, by id. */
  async brands(ids: string[]): Promise<Record<string, Brand | null>> {
    const rows = await this.dataSource.query<{ id: string; brand: Brand | null }[]>(
      'select id, brand from accounts where id = any($1)',
      [ids],
    );
    return Object.fromEntries(rows.map(({ id, brand }) => [id, brand]));
  }
}
