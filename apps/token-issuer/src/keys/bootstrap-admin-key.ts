import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { hashApiKey } from '@perkway/auth';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { DatabaseState, ENV, HealthService, LOGGER } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import type { TokenIssuerEnv } from '../env.js';
import { ApiKeyEntity } from './api-key.entity.js';

/** The account of the platform's operators. */
const PLATFORM = { id: 'platform', name: 'Platform' };

/**
 * Stores the first ADMIN key if no ADMIN key has ever existed. Revoked keys count too, so a revoked key cannot come
 * back this way. The app is not ready before it has tried, so that no call with the stored key gets 401.
 */
@Injectable()
export class BootstrapAdminKey implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: DatabaseState,
    @Inject(ENV) private readonly env: TokenIssuerEnv,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly health: HealthService,
  ) {}

  async onApplicationBootstrap() {
    const { BOOTSTRAP_ADMIN_KEY: key } = this.env;
    if (key === undefined) return;
    if (this.database.hasBeenCurrent) return this.store(key);
    let isDone = false;
    this.health.require(() => isDone);
    this.database.whenCurrent
      .then(() => this.store(key))
      .catch((err: unknown) =>
        this.logger.error({ err }, 'could not store the first ADMIN key, restart the app'),
      )
      .finally(() => (isDone = true));
  }

  private async store(key: string) {
    const isStored = await this.dataSource.transaction(async (manager) => {
      await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.adminKeyBootstrap})`);
      if (await manager.existsBy(ApiKeyEntity, { role: 'ADMIN' })) return false;
      if (!(await manager.existsBy(AccountEntity, { id: PLATFORM.id })))
        await manager.insert(AccountEntity, PLATFORM);
      await manager.insert(ApiKeyEntity, {
        id: randomUUID(),
        account_id: PLATFORM.id,
        role: 'ADMIN',
        name: 'bootstrap',
        hash: hashApiKey(this.env.API_KEY_PEPPER, key),
        last4: key.slice(-4),
      });
      return true;
    });
    if (isStored) this.logger.info({ account: PLATFORM.id }, 'stored the first ADMIN key');
  }
}
