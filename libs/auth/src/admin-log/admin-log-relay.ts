import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { STORE_ADMIN_LOG, type AdminLogRecord } from '@perkway/domain';
import { LOGGER, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 1_000;
const AT_ONCE = 100;

/** Sends the records of the outbox to the console, in their order, and deletes those that it has stored. */
@Injectable()
export class AdminLogRelay implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly rpc: RpcClient,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit() {
    this.timer = setTimeout(() => void this.run(), INTERVAL_MS).unref();
  }

  onModuleDestroy() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async run() {
    try {
      const rows = await this.dataSource.query<{ id: string; record: AdminLogRecord }[]>(
        'select id, record from admin_log_outbox order by id limit $1',
        [AT_ONCE],
      );
      for (const { id, record } of rows) {
        await this.rpc.request(STORE_ADMIN_LOG, record);
        await this.dataSource.query('delete from admin_log_outbox where id = $1', [id]);
      }
    } catch (err) {
      // The console or the database is away, or the console is of an earlier release. The records wait.
      this.logger.debug({ err }, 'could not send the admin log to the console');
    }
    if (!this.stopped) this.onModuleInit();
  }
}
