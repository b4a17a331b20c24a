import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateLinkJobs1767225720000 implements MigrationInterface {
  readonly name = 'CreateLinkJobs1767225720000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table link_jobs (
        id uuid primary key,
        account_id text not null,
        idempotency_key uuid not null,
        -- The settings that all links of the job share.
        request jsonb not null,
        -- SHA-256 of the body, to tell a repeated request from a conflicting one. Empty after an erasure.
        request_digest text not null,
        total integer not null,
        created_by text not null,
        created_at timestamptz not null default now(),
        state text not null check (state in ('running', 'stopped', 'done', 'failed')),
        -- Error code if the last batch failed.
        refused text,
        -- The key that creates the links is derived from these two and SESSION_KEYS; it is stored nowhere.
        key_secret uuid not null,
        keyring_id text not null,
        console_key_id uuid not null,
        -- Until then, no other replica works on the job.
        leased_until timestamptz not null default now(),
        turn_at timestamptz not null default now(),
        unique (account_id, idempotency_key)
      )`);
    await runner.query(`create index link_jobs_running on link_jobs (turn_at) where state = 'running'`);
    await runner.query('create index link_jobs_account on link_jobs (account_id, created_at desc, id desc)');
    await runner.query(`
      create table link_job_rows (
        job_id uuid not null references link_jobs,
        row integer not null,
        reference text,
        -- The link itself is a secret; the gift-card service returns it again when it is needed.
        link_id uuid,
        refused text,
        primary key (job_id, row)
      )`);
    await runner.query(
      'create index link_job_rows_open on link_job_rows (job_id, row) where link_id is null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table link_job_rows');
    await runner.query('drop table link_jobs');
  }
}
