import type { KeyResolver } from '@perkway/auth';
import { Any, IsNull, Raw, type Repository } from 'typeorm';
import type { ApiKeyEntity } from './api-key.entity.js';

/** Resolves key hashes; unknown and revoked keys are absent from the result. */
export const keyResolver =
  (keys: Repository<ApiKeyEntity>): KeyResolver =>
  async (hashes) => {
    const valid = await keys.find({
      select: { hash: true, id: true, account_id: true, role: true },
      where: {
        hash: Any(hashes),
        revoked_at: IsNull(),
        expires_at: Raw((column) => `(${column} is null or ${column} > now())`),
      },
    });
    return Object.fromEntries(
      valid.map(({ hash, id, account_id, role }) => [hash, { keyId: id, account: account_id, role }]),
    );
  };
