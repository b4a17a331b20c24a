import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the entries of an object by its id, which follows its type in the path. */
export class FindAuditEntriesByObject1767225797000 implements MigrationInterface {
  readonly name = 'FindAuditEntriesByObject1767225797000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index audit_entries_object on audit_entries
        (split_part(regexp_replace(path, '^/admin', ''), '/', 3), id desc)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index audit_entries_object');
  }
}
