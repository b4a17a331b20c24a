import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateReports1767225730000 implements MigrationInterface {
  readonly name = 'CreateReports1767225730000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table reports (
        id uuid primary key,
        account_id text not null,
        campaign_id text not null,
        title text not null,
        -- SHA-256 of the secret in the address, which is 256 random bits.
        secret_hash text not null unique check (secret_hash ~ '^[0-9a-f]{64}$'),
        -- The report with its figures; deleted once it is revoked or has expired.
        body jsonb,
        as_of timestamptz not null,
        expires_at timestamptz not null,
        revoked_at timestamptz,
        created_by text not null
      )`);
    await runner.query('create index reports_account on reports (account_id, as_of desc, id desc)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table reports');
  }
}
