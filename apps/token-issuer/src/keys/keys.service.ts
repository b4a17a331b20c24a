import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  DEFAULT_OVERLAP_S,
  generateApiKey,
  hashApiKey,
  KeyStore,
  type ApiKeyResource,
  type CreatedApiKey,
  type RotateApiKeyDto,
} from '@perkway/auth';
import { ApiError, isUuid, unavailable, type AddAccountKey, type RotateAccountKey } from '@perkway/domain';
import { ENV, KeysetPaginator, listResources, type ListQuery, type Page } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import { IsNull, Repository } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import type { TokenIssuerEnv } from '../env.js';
import { ConsoleKeysService, earlier, latestEnd, makerOf } from '../console-keys/console-keys.service.js';
import type { CreateApiKeyDto, KeyOfAccount } from './api-key.dto.js';
import { ApiKeyEntity } from './api-key.entity.js';

const UNIQUE_VIOLATION = '23505';

/** Also ends the console keys that the old key opened. */
const END_AFTER_OVERLAP = `
  update api_keys set
    expires_at = least(expires_at, now() + make_interval(secs => $3)),
    rotated_to = case when id = $1 then $2::uuid end
  where id = $1 or (parent_id = $1 and is_console)`;

const toResource = ({
  id,
  role,
  name,
  last4,
  created_at,
  last_used_at,
  revoked_at,
  scopes,
  expires_at,
  rotated_to,
  counted_as,
}: ApiKeyEntity): ApiKeyResource => ({
  id,
  role,
  name,
  last4,
  created_at: created_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
  revoked_at: revoked_at?.toISOString() ?? null,
  scopes,
  expires_at: expires_at?.toISOString() ?? null,
  rotated_to,
  counted_as: counted_as ?? id,
});

@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    private readonly store: KeyStore,
    private readonly pages: KeysetPaginator,
    private readonly consoleKeys: ConsoleKeysService,
    @Inject(ENV) private readonly env: TokenIssuerEnv,
  ) {}

  /**
   * Creates a key or imports a given one. Only its keyed hash is stored.
   *
   * @param makerKeyId the id of the key that sent the request
   * @throws ACCOUNT_NOT_FOUND
   * @throws KEY_EXISTS if a key of any account that was not revoked equals this one, ignoring case
   */
  async create(account: string, makerKeyId: string, body: CreateApiKeyDto): Promise<CreatedApiKey> {
    const { role, name, key: imported, scopes, expires_at } = body;
    await this.requireAccount(account);
    const key = imported ?? generateApiKey();
    const hash = hashApiKey(this.env.API_KEY_PEPPER, key);
    const endsAt = await latestEnd(this.keys.manager, makerKeyId, { account_id: account, role });
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
      scopes: scopes ?? null,
      expires_at: earlier(expires_at ? new Date(expires_at) : null, endsAt),
      rotated_to: null,
      counted_as: null,
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

  /** Returns a page of the keys of all accounts. @throws ApiError VALIDATION_FAILED */
  async listAll(query: ListQuery): Promise<Page<KeyOfAccount>> {
    return listResources<ApiKeyEntity, KeyOfAccount>(this.keys, this.pages, query, {
      name: 'keys',
      select: 'select * from (select * from api_keys where not is_console) k',
      search: ['id::text', 'name', 'last4'],
      owner: 'account_id',
      toItem: (key) => ({ ...toResource(key), owner: key.account_id }),
    });
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
    // The condition makes only one of two concurrent revocations succeed.
    if (!key || !(await this.keys.update(valid, { revoked_at: () => 'now()' })).affected)
      throw new ApiError('KEY_NOT_FOUND');
    this.store.invalidate(key.hash);
    await this.consoleKeys.revokeFor({ parent_id: keyId });
    return toResource({ ...key, revoked_at: new Date() });
  }

  /**
   * Replaces a key by a new one of the same role, scopes, name and expiry. The old one, and the console sessions that
   * it opened, end after the overlap.
   *
   * @param makerKeyId the id of the key that sent the request
   * @throws ACCOUNT_NOT_FOUND, KEY_NOT_FOUND, KEY_ROTATED, KEY_EXPIRED
   * @throws FORBIDDEN if the new key would outlive the key that sent the request
   */
  async rotate(
    account: string,
    keyId: string,
    makerKeyId: string,
    { overlap_seconds }: RotateApiKeyDto,
  ): Promise<CreatedApiKey> {
    await this.requireAccount(account);
    const key = generateApiKey();
    const next = await this.replace({
      account,
      makerKeyId,
      isSession: false,
      keyId,
      id: randomUUID(),
      last4: key.slice(-4),
      hash: hashApiKey(this.env.API_KEY_PEPPER, key),
      overlapSeconds: overlap_seconds ?? DEFAULT_OVERLAP_S,
    });
    return { ...next, key };
  }

  /**
   * Replaces a key by one of which only the hash is known. Idempotent.
   *
   * @param wanted `makerKeyId` is the id of the key that sent the request; `isSession` if it is that of a console
   * session, which rotates keys of its own account
   * @throws FORBIDDEN if the session may not make a key of this role, or one that lives so long
   * @throws KEY_NOT_FOUND, KEY_ROTATED, KEY_EXPIRED
   */
  async replace(
    wanted: Omit<RotateAccountKey, 'consoleKeyId'> & { makerKeyId: string; isSession: boolean },
  ): Promise<ApiKeyResource> {
    const { account, makerKeyId, isSession, keyId, id, hash, last4, overlapSeconds } = wanted;
    const [old, next] = await this.keys.manager.transaction(async (manager) => {
      const keys = manager.getRepository(ApiKeyEntity);
      const holder = isSession ? await makerOf(manager, makerKeyId) : undefined;
      if (isSession && holder?.account_id !== account) throw new ApiError('FORBIDDEN');
      const old = isUuid(keyId)
        ? await keys.findOne({
            where: { id: keyId, account_id: account, revoked_at: IsNull(), is_console: false },
            lock: { mode: 'for_no_key_update' },
          })
        : null;
      if (!old) throw new ApiError('KEY_NOT_FOUND');
      if (old.role === 'ADMIN' && holder && holder.role !== 'ADMIN') throw new ApiError('FORBIDDEN');
      if (old.rotated_to === id) return [old, await keys.findOneByOrFail({ id })];
      if (old.rotated_to) throw new ApiError('KEY_ROTATED', `It was replaced by the key ${old.rotated_to}`);
      if (old.expires_at && old.expires_at.getTime() <= Date.now()) throw new ApiError('KEY_EXPIRED');
      const { role, name, scopes, expires_at } = old;
      const endsAt = await latestEnd(manager, makerKeyId, old);
      if (endsAt && (!expires_at || expires_at > endsAt))
        throw new ApiError('FORBIDDEN', 'Your own key expires before the one to rotate');
      await keys.insert({
        id,
        account_id: account,
        role,
        name,
        scopes,
        expires_at,
        hash,
        last4,
        counted_as: old.counted_as ?? old.id,
        // The person who rotates the key in the console, or else the one of the old key. When the person leaves the
        // account, USER and ADMIN keys are revoked.
        person_email: holder?.person_email ?? old.person_email,
      });
      await manager.query(END_AFTER_OVERLAP, [old.id, id, overlapSeconds]);
      return [old, await keys.findOneByOrFail({ id })];
    });
    this.store.invalidate(old.hash);
    return toResource(next);
  }

  /**
   * Adds a key by its hash alone, for a console session. Idempotent. Returns undefined if the session may not make it.
   */
  async add(request: AddAccountKey): Promise<ApiKeyResource | undefined> {
    const { account, id, hash } = request;
    // A console of the earlier release does not send `consoleKeyId`, and would show a key that was not stored.
    if (!request.consoleKeyId) throw unavailable('The console');
    if (!(await this.consoleKeys.addFor(request))) return undefined;
    this.store.invalidate(hash);
    return toResource(await this.keys.findOneByOrFail({ id, account_id: account }));
  }

  private async requireAccount(account: string): Promise<void> {
    if (!(await this.accounts.existsBy({ id: account }))) throw new ApiError('ACCOUNT_NOT_FOUND');
  }
}
