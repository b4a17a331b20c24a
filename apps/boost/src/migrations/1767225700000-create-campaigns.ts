import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateCampaigns1767225700000 implements MigrationInterface {
  readonly name = 'CreateCampaigns1767225700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table campaigns (
        id text primary key,
        owner text not null,
        name text not null,
        -- Perk ids in the order in which they are shown: always read and written as a whole.
        incentives text[] not null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table campaigns');
  }
}
