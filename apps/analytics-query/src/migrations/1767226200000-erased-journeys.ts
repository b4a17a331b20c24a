import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ErasedJourneys1767226200000 implements MigrationInterface {
  readonly name = 'ErasedJourneys1767226200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table erased_journeys (
        account_id text not null,
        -- Keyed hash of the journey (ERASURE_KEYS).
        hash text not null,
        -- Replaces the journey in its events.
        stand_in text not null,
        erased_at timestamptz not null default now(),
        primary key (account_id, hash)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table erased_journeys');
  }
}
