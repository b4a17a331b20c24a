import { Injectable } from '@nestjs/common';
import { STORE_ADMIN_LOG, type AdminLogRecord } from '@perkway/domain';
import { Loops, RpcClient, type Loop } from '@perkway/platform';
import { DataSource } from 'typeorm';

/** Interval of checks for records left by crashed replicas, and of retries while the console does not store them. */
const INTERVAL_MS = 5_000;
/** Pause after a batch, so that the records of a burst of calls are read together. */
const MIN_PAUSE_MS = 100;
const RECORDS_PER_BATCH = 100;

/** Sends the records of the outbox to the console in order, and deletes each one once the console has stored it. */
@Injectable()
export class AdminLogRelay {
  private readonly loop: Loop;

  constructor(
    private readonly dataSource: DataSource,
    private readonly rpc: RpcClient,
    loops: Loops,
  ) {
    // Sending fails while the console is unavailable or runs an earlier release. The records stay in the outbox.
    const task = 'send the admin log to the console';
    this.loop = loops.add({
      task,
      everyMs: INTERVAL_MS,
      minPauseMs: MIN_PAUSE_MS,
      run: () => this.send(),
    });
  }

  /** Sends new records soon. */
  wake(): void {
    this.loop.wake();
  }

  /** Sends a batch. Returns 0 (only `MIN_PAUSE_MS` applies) if there may be more records. */
  private async send(): Promise<number | void> {
    const rows = await this.dataSource.query<{ id: string; record: AdminLogRecord }[]>(
      'select id, record from admin_log_outbox order by id limit $1',
      [RECORDS_PER_BATCH],
    );
    for (const { id, record } of rows) {
      await this.rpc.request(STORE_ADMIN_LOG, record);
      await this.dataSource.query('delete from admin_log_outbox where id = $1', [id]);
    }
    if (rows.length === RECORDS_PER_BATCH) return 0;
  }
}
