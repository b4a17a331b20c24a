import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Erasures1767225900000 implements MigrationInterface {
  readonly name = 'Erasures1767225900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table erasures (
        id uuid primary key,
        account_id text not null references accounts,
        kind text not null check (kind in ('journey_id', 'customer_id')),
        -- The journey id or customer id; deleted when the erasure is complete.
        subject text,
        requested_at timestamptz not null default now(),
        completed_at timestamptz,
        -- There are two rounds, in each of which every app erases. "done" has the apps that have finished the current one.
        round integer not null default 1,
        done text[] not null default '{}',
        -- When a replica may next take the erasure: the end of a lease, or of a pause.
        due_at timestamptz not null default now(),
        check ((subject is null) = (completed_at is not null))
      )`);
    // At most one running erasure per subject.
    await runner.query(
      'create unique index erasures_open on erasures (account_id, kind, subject) where subject is not null',
    );
    await runner.query('create index erasures_due on erasures (due_at) where completed_at is null');
    await runner.query('create index erasures_account on erasures (account_id, requested_at desc, id desc)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table erasures');
  }
}
