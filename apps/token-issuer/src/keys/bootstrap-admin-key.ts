import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { hashApiKey } from '@perkway/auth';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { ENV, LOGGER } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { TokenIssuerEnv } from '../env.js';

/** The account of those who run the platform. */
const PLATFORM = { id: 'platform', name: 'Platform' };

/** Stores the first ADMIN key, while there has never been one. A revoked one counts, so it cannot come back this way. */
@Injectable()
export class BootstrapAdminKey implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: TokenIssuerEnv,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap() {
    const { BOOTSTRAP_ADMIN_KEY: key, API_KEY_PEPPER } = this.env;
    if (key === undefined) return;
    const isStored = await this.dataSource.transaction(async (manager) => {
      await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.adminKeyBootstrap})`);
      const [admin] = await manager.query<unknown[]>(`select 1 from api_keys where role = 'ADMIN' limit 1`);
      if (admin) return false;
      await manager.query('insert into accounts (id, name) values ($1, $2) on conflict (id) do nothing', [
        PLATFORM.id,
        PLATFORM.name,
      ]);
      await manager.query(
        `insert into api_keys (id, account_id, role, name, hash) values ($1, $2, 'ADMIN', 'bootstrap', $3)`,
        [randomUUID(), PLATFORM.id, hashApiKey(API_KEY_PEPPER, key)],
      );
      return true;
    });
    if (isStored) this.logger.info({ account: PLATFORM.id }, 'stored the first ADMIN key');
  }
}
