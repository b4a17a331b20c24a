import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { LIST_LOW_STOCK, STOCK_RATE_DAYS, type LowStock } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';

/**
 * Links are counted by account, which has indexes by time, and not by inventory. $2 is the first of the STOCK_RATE_DAYS, as on
 * the screen Gift cards of the console.
 */
const LOW = `
  with low as (
    select p.id as pool, p.owner as account, p.product ->> 'name' as product,
      n.denomination, n.currency, n.country, n.available
    from pools_with_numbers(array(select id from pools)) n join pools p on p.id = n.id
    where n.available < $1
    order by n.available, p.owner, p.id, n.denomination, n.currency, n.country
    limit 200
  ), used as (
    select i.pool_id, i.denomination, i.currency, i.country, sum(l.links) as links
    from (
      select inventory_id, count(*) as links from reward_links
      where account = any (array(select account from low)) and created_at >= $2
      group by 1
      union all
      select inventory_id, -count(*) from reward_links
      where account = any (array(select account from low))
        and revealed_at is null and expires_at >= $2 and expires_at <= now()
      group by 1
    ) l join inventories i on i.id = l.inventory_id
    group by 1, 2, 3, 4
  )
  select low.pool, low.account, low.product, low.denomination::float8, low.currency, low.country,
    low.available::float8, coalesce(used.links, 0)::float8 as used
  from low left join used
    on (used.pool_id, used.denomination, used.currency, used.country)
      = (low.pool, low.denomination, low.currency, low.country)
  order by low.available, low.account, low.pool, low.denomination, low.currency, low.country`;

/** Lists low stock of all accounts, for the operators' home in the console. */
@Controller()
export class LowStockController {
  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_LOW_STOCK)
  async list(@Payload() { below }: { below: number }): Promise<{ stocks: LowStock[] }> {
    const first = new Date();
    first.setUTCHours(0, 0, 0, 0);
    first.setUTCDate(first.getUTCDate() - (STOCK_RATE_DAYS - 1));
    return { stocks: await this.dataSource.query<LowStock[]>(LOW, [below, first]) };
  }
}
