import { Controller } from '@nestjs/common';
import { LIST_NEARLY_USED_LIMITS, LISTED_LIMITS_PER, type NearlyUsedLimit } from '@perkway/domain';
import { RpcHandler, SharedQueries } from '@perkway/platform';
import { DataSource } from 'typeorm';

/**
 * A counter includes links that ended unrevealed since it was settled, so counters only find candidates, and
 * `limit_usage` decides. The first request for a link creates a counter. Until then, the links of a limit per account are
 * counted here, for the latest 20 such limits, and up to 20,000 links each, to keep the query fast. Other values without a
 * counter are left out, because they would have to be searched in all links of the period.
 */
const NEARLY_USED = `
  with uncounted as (
    select l.*, p.period_start from limits l cross join lateral limit_period(now(), l.period, l.timezone) p
    where l.per = 'account' and not exists (
      select from limit_counts c where c.limit_id = l.id and c.value = l.owner and c.period_start = p.period_start
    )
    order by l.updated_at desc limit 20
  ), candidates as (
    (select l.id, l.owner, l.per, l.links, l.amount, l.currency, c.value, c.period_start
    from limits l join limit_counts c on c.limit_id = l.id
    where l.per = any ($1)
      and c.period_start <= now() and (c.resets_at is null or c.resets_at > now())
      and (c.links >= 0.8 * l.links or c.amount >= 0.8 * l.amount)
    order by greatest(c.links / l.links::numeric, c.amount / l.amount) desc, l.id, c.value limit 400)
    union all
    select l.id, l.owner, l.per, l.links, l.amount, l.currency, l.owner, l.period_start
    from uncounted l
    where not exists (
      select from reward_links r where r.account = l.owner and r.created_at >= l.period_start offset 20000
    )
  )
  select l.id, l.owner as account, l.per, l.value, p.product->>'name' as product,
    extract(epoch from u.resets_at)::float8 * 1000 as "resetsAt",
    case when l.links is not null then json_build_object('limit', l.links, 'used', u.links) end as links,
    case when l.amount is not null
      then json_build_object('limit', l.amount, 'used', u.amount, 'currency', l.currency) end as amount
  from candidates l
  left join pools p on l.per = 'pool_id' and p.id::text = l.value
  cross join lateral limit_usage(l.id, l.value) u
  where u.period_start = l.period_start and (u.links >= 0.8 * l.links or u.amount >= 0.8 * l.amount)
  order by greatest(u.links / l.links::numeric, u.amount / l.amount) desc, l.id, l.value limit 200`;

/** Serves the limits that are nearly used up to the console's page for operators. */
@Controller()
export class NearlyUsedLimitsController {
  private readonly queries = new SharedQueries<NearlyUsedLimit[]>();

  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_NEARLY_USED_LIMITS)
  async list(): Promise<{ limits: NearlyUsedLimit[] }> {
    const query = () => this.dataSource.query<NearlyUsedLimit[]>(NEARLY_USED, [LISTED_LIMITS_PER]);
    return { limits: await this.queries.run([], query) };
  }
}
