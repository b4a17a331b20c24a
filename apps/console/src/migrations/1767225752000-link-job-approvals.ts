import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets large link jobs wait until another person of the account decides on them. */
export class LinkJobApprovals1767225752000 implements MigrationInterface {
  readonly name = 'LinkJobApprovals1767225752000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table link_jobs
        -- The person who made the job, also if it was made with a key that this person made.
        add creator_email text,
        -- Only for jobs that need an approval.
        add lapses_at timestamptz,
        add decided_by text,
        add decided_at timestamptz,
        add decision_comment text,
        drop constraint link_jobs_state_check,
        add constraint link_jobs_state_check check (state in
          ('awaiting_approval', 'rejected', 'lapsed', 'running', 'stopped', 'done', 'failed'))`);
    await runner.query(
      `create index link_jobs_awaiting on link_jobs (lapses_at) where state = 'awaiting_approval'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index link_jobs_awaiting');
    // The earlier release resumes stopped and failed jobs without an approval.
    await runner.query(`
      update link_jobs set state = 'done'
      where state in ('awaiting_approval', 'rejected', 'lapsed')`);
    await runner.query(`
      alter table link_jobs
        drop creator_email, drop lapses_at, drop decided_by, drop decided_at, drop decision_comment,
        drop constraint link_jobs_state_check,
        add constraint link_jobs_state_check check (state in ('running', 'stopped', 'done', 'failed'))`);
  }
}
