import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the id under which an app reports a management call, and an index for exports by time. */
export class AuditLogOfAllApps1767225790000 implements MigrationInterface {
  readonly name = 'AuditLogOfAllApps1767225790000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table audit_entries add column source_id uuid unique;
      create index audit_entries_at on audit_entries (at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index audit_entries_at;
      alter table audit_entries drop column source_id`);
  }
}
