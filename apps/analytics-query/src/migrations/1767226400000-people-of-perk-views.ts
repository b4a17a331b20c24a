import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds how many of the perks shown in an hour were shown to people. Null in rows of earlier releases, which only had
 * reads by servers.
 */
export class PeopleOfPerkViews1767226400000 implements MigrationInterface {
  readonly name = 'PeopleOfPerkViews1767226400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table event_hours add column perks_people bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table event_hours drop column perks_people');
  }
}
