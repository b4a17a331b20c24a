import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs instantly: existing rows keep null, which means "not recorded". */
export class NoteDerivedJourneys1767226000000 implements MigrationInterface {
  readonly name = 'NoteDerivedJourneys1767226000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tracking_events add column has_derived_journey boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tracking_events drop column has_derived_journey');
  }
}
