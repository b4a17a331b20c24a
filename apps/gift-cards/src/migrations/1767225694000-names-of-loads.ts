import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the name of the file to a card load. Loads of earlier releases have none. */
export class NamesOfLoads1767225694000 implements MigrationInterface {
  readonly name = 'NamesOfLoads1767225694000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table card_loads add column file_name text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table card_loads drop column file_name');
  }
}
