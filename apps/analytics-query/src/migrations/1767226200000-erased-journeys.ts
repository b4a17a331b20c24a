import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ErasedJourneys1767226200000 implements MigrationInterface {
  readonly name = 'ErasedJourneys1767226200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table erased_journeys (
        account_id text not null,
        -- Of the journey, under ERASURE_KEYS.
        hash text not null,
        -- What its events have as their journey.
        stand_in text not null,
        erased_at timestamptz not null default now(),
        primary key (account_id, hash)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table erased_journeys');
  }
}
