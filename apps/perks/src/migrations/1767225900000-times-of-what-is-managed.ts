import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When categories, perks and collections were made and changed. Of those that exist nobody knows: they are of now. */
export class TimesOfWhatIsManaged1767225900000 implements MigrationInterface {
  readonly name = 'TimesOfWhatIsManaged1767225900000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['categories', 'perks', 'collections'])
      await runner.query(`
        alter table ${table}
          add created_at timestamptz not null default now(),
          add updated_at timestamptz not null default now()`);
    // A code that was given to a customer outlives its perk: put again, the perk must not give it to another one.
    await runner.query('alter table coupon_codes drop constraint coupon_codes_perk_id_fkey');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('delete from coupon_codes where perk_id not in (select id from perks)');
    await runner.query('alter table coupon_codes add foreign key (perk_id) references perks');
    for (const table of ['categories', 'perks', 'collections'])
      await runner.query(`alter table ${table} drop created_at, drop updated_at`);
  }
}
