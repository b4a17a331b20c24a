import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { generateApiKey, hashApiKey, KeyStore } from '@perkway/auth';
import { ApiError, isUuid, unavailable, type AddAccountKey } from '@perkway/domain';
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
   * Creates a key or imports a given one. Only its keyed hash is stored.
   *
   * @throws ACCOUNT_NOT_FOUND
   * @throws KEY_EXISTS if a valid key of any account equals this one, ignoring case
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
      if ((error as { code?: string }).code === UNIQUE_VIOLATION) throw new ApiError('KEY_EXISTS');
      throw error;
    }
    // The key may be cached here as unknown from an earlier attempt.
    this.store.invalidate(hash);
    return { ...toResource(row), key };
  }

  /** Returns the keys of an account, including revoked ones, oldest first. */
  async list(account: string): Promise<ApiKeyResource[]> {
    await this.requireAccount(account);
    const keys = await this.keys.find({
      where: { account_id: account, is_console: false },
      order: { created_at: 'asc', id: 'asc' },
    });
    return keys.map(toResource);
  }

  /**
   * Revokes a key and the console sessions that it opened: at once here, within 5 s in every app.
   *
   * @throws ACCOUNT_NOT_FOUND, KEY_NOT_FOUND
   */
  async revoke(account: string, keyId: string): Promise<ApiKeyResource> {
    await this.requireAccount(account);
    const valid = { id: keyId, account_id: account, revoked_at: IsNull(), is_console: false };
    const key = isUuid(keyId) ? await this.keys.findOneBy(valid) : null;
    // Of two concurrent revocations, only one succeeds.
    if (!key || !(await this.keys.update(valid, { revoked_at: () => 'now()' })).affected)
      throw new ApiError('KEY_NOT_FOUND');
    this.store.invalidate(key.hash);
    await this.consoleKeys.revokeFor({ parent_id: keyId });
    return toResource({ ...key, revoked_at: new Date() });
  }

  /** Adds a key by its hash alone, for a console session. Idempotent. Returns undefined if the session may not make it. */
  async add(request: AddAccountKey): Promise<ApiKeyResource | undefined> {
    const { account, id, hash } = request;
    // A console of the earlier release does not send it, and would show a key that was not stored.
    if (!request.consoleKeyId) throw unavailable('The console');
    if (!(await this.consoleKeys.addFor(request))) return undefined;
    this.store.invalidate(hash);
    return toResource(await this.keys.findOneByOrFail({ id, account_id: account }));
  }

  private async requireAccount(account: string): Promise<void> {
    if (!(await this.accounts.existsBy({ id: account }))) throw new ApiError('ACCOUNT_NOT_FOUND');
  }
}
