import type { MigrationInterface, QueryRunner } from 'typeorm';
import { replaceViewsAndFunctions } from './views-and-functions.js';

/** Everything in views-and-functions.ts. Databases of before this migration have older ones already. */
export class ViewsAndFunctions1767225620000 implements MigrationInterface {
  readonly name = 'ViewsAndFunctions1767225620000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('drop function if exists reveal_link(uuid)');
    await replaceViewsAndFunctions(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop function settle_expired, reveal_link, reserve_cards, take_cards, settled_share, count_links, pools_with_numbers;
      drop view inventory_numbers`);
  }
}
