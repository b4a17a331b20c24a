import { Controller } from '@nestjs/common';
import { isLow, LIST_LOW_CODES, rateDays, runsOut, stockRateStart, type CodeStock } from '@perkway/domain';
import { RpcHandler, SharedQueries } from '@perkway/platform';
import { DataSource } from 'typeorm';

/**
 * Selects the perks whose codes run low, those that run out first on top. $1 is the start of the period over which the
 * rate of use is measured.
 */
const LOW = `
  with rates as (
    select p.id as perk, p.title, count(c.pick)::float8 as available,
      count(*) filter (where c.allocated_at >= $1)::float8 as used, ${rateDays('p.created_at')}::float8 as days
    from perks p join coupon_codes c on c.perk_id = p.id
    where p.is_coupon_perk
    group by p.id
  )
  select * from rates where ${isLow('available', 'used', 'days')}
  order by ${runsOut('available', 'used', 'days')}, available, perk limit 200`;

/** Lists perks whose single-use codes run low, for the operators' home in the console. */
@Controller()
export class LowCodesController {
  /** Concurrent requests share one query, because it counts all codes. */
  private readonly queries = new SharedQueries<CodeStock[]>();

  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_LOW_CODES)
  async list(): Promise<{ stocks: CodeStock[] }> {
    const parameters = [stockRateStart()];
    return { stocks: await this.queries.run(parameters, () => this.dataSource.query(LOW, parameters)) };
  }
}
