import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuditLog1767225710000 implements MigrationInterface {
  readonly name = 'CreateAuditLog1767225710000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_entries (
        id bigint generated always as identity primary key,
        at timestamptz not null default now(),
        account_id text not null,
        role text not null,
        key_id uuid,
        email text,
        actor text not null,
        action text not null,
        host text not null,
        path text not null,
        before jsonb
      )`);
    await runner.query('create index audit_entries_account on audit_entries (account_id, id desc)');
    await runner.query(`
      create table audit_outcomes (
        entry_id bigint primary key references audit_entries,
        at timestamptz not null default now(),
        status integer not null,
        after jsonb
      )`);
    await runner.query(`
      create function refuse_change() returns trigger language plpgsql as $$
      begin
        raise exception 'the audit log is only ever added to';
      end $$`);
    for (const table of ['audit_entries', 'audit_outcomes'])
      await runner.query(`
        create trigger append_only before update or delete or truncate on ${table}
        for each statement execute function refuse_change()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_outcomes');
    await runner.query('drop table audit_entries');
    await runner.query('drop function refuse_change');
  }
}
