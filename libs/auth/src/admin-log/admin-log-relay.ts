import { Injectable } from '@nestjs/common';
import { STORE_ADMIN_LOG, type AdminLogRecord } from '@perkway/domain';
import { Loops, RpcClient } from '@perkway/platform';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 1_000;
const AT_ONCE = 100;

/** Sends the records of the outbox to the console, in their order, and deletes those that it has stored. */
@Injectable()
export class AdminLogRelay {
  constructor(
    private readonly dataSource: DataSource,
    private readonly rpc: RpcClient,
    loops: Loops,
  ) {
    // Fails while the console is away or of an earlier release. The records wait.
    const task = 'send the admin log to the console';
    loops.add({ task, everyMs: INTERVAL_MS, run: () => this.send() });
  }

  private async send() {
    const rows = await this.dataSource.query<{ id: string; record: AdminLogRecord }[]>(
      'select id, record from admin_log_outbox order by id limit $1',
      [AT_ONCE],
    );
    for (const { id, record } of rows) {
      await this.rpc.request(STORE_ADMIN_LOG, record);
      await this.dataSource.query('delete from admin_log_outbox where id = $1', [id]);
    }
  }
}
