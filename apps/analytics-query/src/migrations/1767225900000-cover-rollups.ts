import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Allows index-only scans of rollup rows: those of one account are spread over as many pages as there are hours. */
const KEYS = {
  event_hours: { key: 'account_id, type, hour', include: 'events, people, perks, value' },
  perk_days: { key: 'account_id, type, day, perk_id', include: 'events, people' },
  campaign_days: { key: 'account_id, type, day, campaign_id', include: 'events, people, value' },
};

export class CoverRollups1767225900000 implements MigrationInterface {
  readonly name = 'CoverRollups1767225900000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, { key, include }] of Object.entries(KEYS))
      await runner.query(`
        alter table ${table} drop constraint ${table}_pkey, add primary key (${key}) include (${include});
        alter table ${table} set (autovacuum_vacuum_insert_scale_factor = 0.02)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, { key }] of Object.entries(KEYS))
      await runner.query(`
        alter table ${table} drop constraint ${table}_pkey, add primary key (${key});
        alter table ${table} reset (autovacuum_vacuum_insert_scale_factor)`);
  }
}
