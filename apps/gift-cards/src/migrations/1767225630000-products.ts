import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the product of a pool: a JSON document that is always read and written as a whole. */
export class Products1767225630000 implements MigrationInterface {
  readonly name = 'Products1767225630000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pools add column product jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pools drop column product');
  }
}
