import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the client's own reference of a reward link. The other fields of a link already have columns. */
export class AddLinkReference1767226100000 implements MigrationInterface {
  readonly name = 'AddLinkReference1767226100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tracking_events add column reference text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tracking_events drop column reference');
  }
}
