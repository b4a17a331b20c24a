import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ClaimDeliveriesByLease1767225900000 implements MigrationInterface {
  readonly name = 'ClaimDeliveriesByLease1767225900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table deliveries
        -- Set while an attempt is made. No index contains it, so a claim changes no index.
        add column lease_until timestamptz,
        -- A client asked for it: a ping or a single retry.
        add column requested boolean not null default false,
        -- An earlier delivery of the same subject is pending. A claim looks at no delivery that is held.
        add column held boolean not null default false`);
    // Room in each page for the version of a row that a claim makes.
    await runner.query('alter table deliveries set (fillfactor = 75)');
    await runner.query('drop index deliveries_due');
    await runner.query(`
      create index deliveries_due on deliveries (webhook, held, requested, next_attempt_at, id) where state = 'pending'`);
    await runner.query(`
      create index deliveries_failed on deliveries (webhook, id) where state = 'failed'`);
    await runner.query('drop index deliveries_undelivered');
    await runner.query(`
      alter table deliveries drop constraint deliveries_pkey, add primary key (webhook, id)`);
    await runner.query('drop index deliveries_list');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('create index deliveries_list on deliveries (webhook, id)');
    await runner.query('alter table deliveries drop constraint deliveries_pkey, add primary key (id)');
    await runner.query(
      `create index deliveries_undelivered on deliveries (webhook, id) where state <> 'delivered'`,
    );
    for (const index of ['deliveries_failed', 'deliveries_due']) await runner.query(`drop index ${index}`);
    await runner.query(
      `create index deliveries_due on deliveries (webhook, next_attempt_at, id) where state = 'pending'`,
    );
    await runner.query('alter table deliveries reset (fillfactor)');
    await runner.query(
      'alter table deliveries drop column held, drop column requested, drop column lease_until',
    );
  }
}
