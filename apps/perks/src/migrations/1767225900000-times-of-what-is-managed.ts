import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds creation and update times to categories, perks and collections. Existing rows get the time of the migration. */
export class TimesOfWhatIsManaged1767225900000 implements MigrationInterface {
  readonly name = 'TimesOfWhatIsManaged1767225900000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['categories', 'perks', 'collections'])
      await runner.query(`
        alter table ${table}
          add created_at timestamptz not null default now(),
          add updated_at timestamptz not null default now()`);
    // A customer's code outlives its perk: if the perk is created again, it must not give that code to somebody else.
    await runner.query('alter table coupon_codes drop constraint coupon_codes_perk_id_fkey');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('delete from coupon_codes where perk_id not in (select id from perks)');
    await runner.query('alter table coupon_codes add foreign key (perk_id) references perks');
    for (const table of ['categories', 'perks', 'collections'])
      await runner.query(`alter table ${table} drop created_at, drop updated_at`);
  }
}
