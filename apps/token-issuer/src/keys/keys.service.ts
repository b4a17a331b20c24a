import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { generateApiKey, hashApiKey, KeyStore } from '@perkway/auth';
import { DomainError, isUuid, type AddAccountKey } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import { IsNull, Repository } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import type { TokenIssuerEnv } from '../env.js';
import { ConsoleKeysService } from '../console-keys/console-keys.service.js';
import type { ApiKeyResource, CreateApiKeyDto, CreatedApiKey } from './api-key.dto.js';
import { ApiKeyEntity } from './api-key.entity.js';

const UNIQUE_VIOLATION = '23505';

const toResource = ({
  id,
  role,
  name,
  last4,
  created_at,
  last_used_at,
  revoked_at,
}: ApiKeyEntity): ApiKeyResource => ({
  id,
  role,
  name,
  last4,
  created_at: created_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
  revoked_at: revoked_at?.toISOString() ?? null,
});

@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    private readonly store: KeyStore,
    private readonly consoleKeys: ConsoleKeysService,
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
    const row = this.keys.create({
      id: randomUUID(),
      account_id: account,
      role,
      name: name ?? null,
      hash,
      last4: key.slice(-4),
      last_used_at: null,
      revoked_at: null,
      is_console: false,
    });
    try {
      await this.keys.insert(row);
    } catch (error) {
      if ((error as { code?: string }).code === UNIQUE_VIOLATION) throw new DomainError('KEY_EXISTS');
      throw error;
    }
    // It may have been tried before, and be known here as no key.
    this.store.invalidate(hash);
    return { ...toResource(row), key };
  }

  /** The keys of an account, revoked ones too, oldest first. */
  async list(account: string): Promise<ApiKeyResource[]> {
    await this.requireAccount(account);
    const keys = await this.keys.find({
      where: { account_id: account, is_console: false },
      order: { created_at: 'asc', id: 'asc' },
    });
    return keys.map(toResource);
  }

  /**
   * Revokes a key, and with it the sessions of the console that it opened: at once here, within 5 s in every app.
   *
   * @throws ACCOUNT_NOT_FOUND, KEY_NOT_FOUND
   */
  async revoke(account: string, keyId: string): Promise<ApiKeyResource> {
    await this.requireAccount(account);
    const valid = { id: keyId, account_id: account, revoked_at: IsNull(), is_console: false };
    const key = isUuid(keyId) ? await this.keys.findOneBy(valid) : null;
    // Of two that revoke it at the same moment one finds it gone.
    if (!key || !(await this.keys.update(valid, { revoked_at: () => 'now()' })).affected)
      throw new DomainError('KEY_NOT_FOUND');
    this.store.invalidate(key.hash);
    await this.consoleKeys.revokeFor({ parent_id: keyId });
    return toResource({ ...key, revoked_at: new Date() });
  }

  /** Adds a key of which only the hash is told; the same again answers the same. */
  async add({ account, id, hash, last4, role, name }: AddAccountKey): Promise<ApiKeyResource> {
    await this.requireAccount(account);
    await this.keys
      .createQueryBuilder()
      .insert()
      .values({ id, account_id: account, role, name, hash, last4 })
      .orIgnore()
      .execute();
    this.store.invalidate(hash);
    return toResource(await this.keys.findOneByOrFail({ id, account_id: account }));
  }

  private async requireAccount(account: string): Promise<void> {
    if (!(await this.accounts.existsBy({ id: account }))) throw new DomainError('ACCOUNT_NOT_FOUND');
  }
}
