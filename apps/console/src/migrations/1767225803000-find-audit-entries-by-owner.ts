import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds a view with the kind and id of each entry's object, and indexes by the owner before and after the change. */
export class FindAuditEntriesByOwner1767225803000 implements MigrationInterface {
  readonly name = 'FindAuditEntriesByOwner1767225803000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create view audit_calls as
        select id, at, account_id, role, key_id, email, actor, action, host, path, before,
          split_part(regexp_replace(path, '^/admin', ''), '/', 2) as kind,
          split_part(regexp_replace(path, '^/admin', ''), '/', 3) as object
        from audit_entries;
      create index audit_entries_owner on audit_entries ((before ->> 'owner'));
      create index audit_outcomes_owner on audit_outcomes ((after ->> 'owner'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index audit_entries_owner, audit_outcomes_owner;
      drop view audit_calls`);
  }
}
