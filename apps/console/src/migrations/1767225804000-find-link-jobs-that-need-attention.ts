import type { MigrationInterface, QueryRunner } from 'typeorm';

export class FindLinkJobsThatNeedAttention1767225804000 implements MigrationInterface {
  readonly name = 'FindLinkJobsThatNeedAttention1767225804000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index link_jobs_attention on link_jobs (turn_at) where state in ('failed', 'awaiting_approval')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index link_jobs_attention');
  }
}
