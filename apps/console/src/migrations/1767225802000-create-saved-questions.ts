import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateSavedQuestions1767225802000 implements MigrationInterface {
  readonly name = 'CreateSavedQuestions1767225802000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table saved_questions (
        id uuid primary key,
        account_id text not null,
        name text not null,
        -- The query string of Explore.
        question text not null,
        saved_by text not null,
        saved_at timestamptz not null,
        unique (account_id, name)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table saved_questions');
  }
}
