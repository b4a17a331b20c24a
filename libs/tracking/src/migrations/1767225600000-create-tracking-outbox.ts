import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the app's `tracking_outbox`: events that the stream has not acknowledged yet, as JSON text (jsonb would
 * reject an escaped NUL and cost a parse). Every app that tracks needs it in its migrations.
 */
export class CreateTrackingOutbox1767225600000 implements MigrationInterface {
  readonly name = 'CreateTrackingOutbox1767225600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table tracking_outbox (
        seq bigint generated always as identity primary key,
        event text not null,
        created_at timestamptz not null default now()
      )
      -- Rows live for seconds, so it is vacuumed by their number and not by a share of a usually empty table.
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table tracking_outbox');
  }
}
