import type { KeyResolver } from '@perkway/auth';
import { Any, IsNull, Raw, type Repository } from 'typeorm';
import type { ApiKeyEntity } from './api-key.entity.js';

/** Resolves key hashes; unknown keys, revoked ones and expired keys of the console are absent from the result. */
export const keyResolver =
  (keys: Repository<ApiKeyEntity>): KeyResolver =>
  async (hashes) => {
    const valid = await keys.find({
      select: {
        hash: true,
        id: true,
        account_id: true,
        role: true,
        scopes: true,
        expires_at: true,
        counted_as: true,
        name: true,
        is_console: true,
      },
      where: {
        hash: Any(hashes),
        revoked_at: IsNull(),
        expires_at: Raw((column) => `(${column} is null or ${column} > now() or not is_console)`),
      },
    });
    return Object.fromEntries(
      valid.map(({ hash, id, account_id, role, scopes, expires_at, counted_as, name, is_console }) => [
        hash,
        {
          keyId: id,
          account: account_id,
          role,
          scopes: scopes ?? undefined,
          expiresAt: expires_at?.getTime(),
          countedAs: counted_as ?? undefined,
          name: name ?? undefined,
          isConsole: is_console || undefined,
        },
      ]),
    );
  };
