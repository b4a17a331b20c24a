import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  isLow,
  isUuid,
  LIST_STOCK,
  rateDays,
  runsOut,
  stockRateStart,
  type CardStock,
  type StockQuery,
} from '@perkway/domain';
import { RpcHandler, SharedQueries } from '@perkway/platform';
import { DataSource } from 'typeorm';

/**
 * Links are counted by account, which has indexes by time, and not by inventory. $1 and $2 are the account and the pools,
 * $3 is the start of the time over which use is measured, and $4 selects only stock that is low.
 */
const STOCK = `
  with stock as (
    select n.*, p.product ->> 'name' as product
    from pools_with_numbers(array(
      select id from pools where ($1::text is null or owner = $1) and ($2::uuid[] is null or id = any ($2))
    )) n join pools p on p.id = n.id
    where n.denomination is not null
  ), used as (
    select i.pool_id, i.denomination, i.currency, i.country, sum(l.links) as links
    from (
      select inventory_id, count(*) as links from reward_links
      where account = any (array(select owner from stock)) and created_at >= $3
      group by 1
      union all
      select inventory_id, -count(*) from reward_links
      where account = any (array(select owner from stock))
        and revealed_at is null and expires_at >= $3 and expires_at <= now()
      group by 1
    ) l join inventories i on i.id = l.inventory_id
    group by 1, 2, 3, 4
  ), began as (
    select i.pool_id, i.denomination, i.currency, i.country, min(greatest(i.created_at, p.created_at)) as at
    from inventories i join pools p on p.id = i.pool_id where i.pool_id = any (array(select id from stock))
    group by 1, 2, 3, 4
  ), rates as (
    select s.id as pool, s.owner as account, s.product, s.denomination::float8, s.currency, s.country,
      s.available::float8, coalesce(u.links, 0)::float8 as used, ${rateDays('b.at')}::float8 as days
    from stock s
    join began b on (b.pool_id, b.denomination, b.currency, b.country) = (s.id, s.denomination, s.currency, s.country)
    left join used u on (u.pool_id, u.denomination, u.currency, u.country) = (s.id, s.denomination, s.currency, s.country)
    -- Stock that was withdrawn and is not used was emptied on purpose.
    where not $4 or s.available > 0 or s.withdrawn = 0 or u.links > 0
  )
  select * from rates where not $4 or ${isLow('available', 'used', 'days')}
  order by ${runsOut('available', 'used', 'days')}, available, account, pool, denomination, currency, country limit case when $4 then 200 end`;

/** Lists stock with the rate at which it is used, for the console. */
@Controller()
export class StockController {
  /** The query counts the links of 30 days, so equal requests share it. */
  private readonly queries = new SharedQueries<CardStock[]>();

  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_STOCK)
  async list(@Payload() { account, pool, pools, low = false }: StockQuery): Promise<{ stocks: CardStock[] }> {
    const selected = pools ?? (pool === undefined ? undefined : [pool]);
    const ids = selected?.filter(isUuid);
    if (ids?.length === 0) return { stocks: [] };
    const parameters = [account ?? null, ids ?? null, stockRateStart(), low];
    return { stocks: await this.queries.run(parameters, () => this.dataSource.query(STOCK, parameters)) };
  }
}
