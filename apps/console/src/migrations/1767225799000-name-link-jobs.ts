import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NameLinkJobs1767225799000 implements MigrationInterface {
  readonly name = 'NameLinkJobs1767225799000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table link_jobs add column name text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table link_jobs drop column name');
  }
}
