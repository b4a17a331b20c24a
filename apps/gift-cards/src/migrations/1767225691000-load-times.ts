import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Gives cards of earlier releases the start of their load. A load takes whole blocks of 65,536 card ids, in ascending
 * order, so the position of a block among the cards of its pool tells which load it belongs to.
 *
 * Not in the migration that adds the column, which would lock the table until all cards are updated.
 */
export class LoadTimes1767225691000 implements MigrationInterface {
  readonly name = 'LoadTimes1767225691000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      with blocks as (
        select pool_id, block, sum(n) over (partition by pool_id order by block) as position
        from (
          select i.pool_id, c.id / 65536 as block, count(*) as n
          from cards c join inventories i on i.id = c.inventory_id group by 1, 2
        ) counted
      ), loads as (
        select pool_id, started_at, sum(imported) over (partition by pool_id order by started_at, id) as position
        from card_loads where imported > 0
      ), times as (
        select b.block, coalesce(
          (select min(l.started_at) from loads l where l.pool_id = b.pool_id and l.position >= b.position), p.created_at
        ) as loaded_at
        from blocks b join pools p on p.id = b.pool_id
      )
      update cards c set loaded_at = t.loaded_at from times t where t.block = c.id / 65536 and c.loaded_at = '-infinity'`);
  }

  /** The migration that adds the column drops it. */
  async down(): Promise<void> {}
}
