import type { ResolvedKey, Role } from '@perkway/domain';
import type { DataSource } from 'typeorm';

/** Whose keys these are, by hash; what is unknown or revoked is absent. */
export async function resolveKeys(
  dataSource: DataSource,
  hashes: string[],
): Promise<Record<string, ResolvedKey>> {
  const rows = await dataSource.query<{ hash: string; id: string; account: string; role: Role }[]>(
    `select hash, id, account_id as account, role from api_keys where hash = any($1) and revoked_at is null`,
    [hashes],
  );
  return Object.fromEntries(rows.map(({ hash, id, account, role }) => [hash, { keyId: id, account, role }]));
}
