import type { MigrationInterface, QueryRunner } from 'typeorm';

export class FindLinkJobRowsByReference1767225805000 implements MigrationInterface {
  readonly name = 'FindLinkJobRowsByReference1767225805000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'create index link_job_rows_reference on link_job_rows (reference) where reference is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index link_job_rows_reference');
  }
}
