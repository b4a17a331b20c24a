import { Inject, Injectable } from '@nestjs/common';
import { hashApiKey, KeyStore } from '@perkway/auth';
import { DomainError, isUuid, type Role } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { randomBytes, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AccountsService } from '../accounts/accounts.service.js';
import type { TokenIssuerEnv } from '../env.js';
import type { ApiKeyResource, CreateApiKeyDto, CreatedApiKey } from './api-key.dto.js';

const GENERATED_PREFIX = 'pk_';
const GENERATED_BYTES = 20;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

interface KeyRow {
  id: string;
  role: Role;
  name: string | null;
  created_at: Date;
}
const toResource = ({ id, role, name, created_at }: KeyRow): ApiKeyResource => ({
  id,
  role,
  name,
  created_at: created_at.toISOString(),
});

/** A key of 160 random bits in one case, because matching ignores case (specification section 5). */
export function generateApiKey(): string {
  let key = GENERATED_PREFIX;
  let bits = 0;
  let held = 0;
  for (const byte of randomBytes(GENERATED_BYTES)) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) key += BASE32[(held >> (bits - 5)) & 31];
  }
  return key;
}

@Injectable()
export class KeysService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly accounts: AccountsService,
    private readonly store: KeyStore,
    @Inject(ENV) private readonly env: TokenIssuerEnv,
  ) {}

  /**
   * Makes a key, or imports a given one, which is then known by its keyed hash alone.
   *
   * @throws ACCOUNT_NOT_FOUND
   * @throws KEY_EXISTS when a valid key differs from this one at most by case, whatever account it belongs to
   */
  async create(account: string, { role, name, key: imported }: CreateApiKeyDto): Promise<CreatedApiKey> {
    await this.requireAccount(account);
    const key = imported ?? generateApiKey();
    const hash = hashApiKey(this.env.API_KEY_PEPPER, key);
    const [row] = await this.dataSource.query<KeyRow[]>(
      `insert into api_keys (id, account_id, role, name, hash) values ($1, $2, $3, $4, $5)
       on conflict (hash) where revoked_at is null do nothing
       returning id, role, name, created_at`,
      [randomUUID(), account, role, name ?? null, hash],
    );
    if (!row) throw new DomainError('KEY_EXISTS');
    // It may have been tried before, and be known here as no key.
    this.store.invalidate(hash);
    return { ...toResource(row), key };
  }

  /** The valid keys of an account, oldest first. */
  async list(account: string): Promise<ApiKeyResource[]> {
    await this.requireAccount(account);
    const rows = await this.dataSource.query<KeyRow[]>(
      `select id, role, name, created_at from api_keys
       where account_id = $1 and revoked_at is null order by created_at, id`,
      [account],
    );
    return rows.map(toResource);
  }

  /**
   * Revokes a key: at once here, within 5 s in every app. The row stays, to tell that there was such a key.
   *
   * @throws ACCOUNT_NOT_FOUND, KEY_NOT_FOUND
   */
  async revoke(account: string, keyId: string): Promise<void> {
    await this.requireAccount(account);
    const [rows] = isUuid(keyId)
      ? await this.dataSource.query<[{ hash: string }[], number]>(
          `update api_keys set revoked_at = now()
           where id = $1 and account_id = $2 and revoked_at is null returning hash`,
          [keyId, account],
        )
      : [[]];
    const [revoked] = rows;
    if (!revoked) throw new DomainError('KEY_NOT_FOUND');
    this.store.invalidate(revoked.hash);
  }

  private async requireAccount(account: string): Promise<void> {
    if (!(await this.accounts.exists(account))) throw new DomainError('ACCOUNT_NOT_FOUND');
  }
}
