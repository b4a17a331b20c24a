import { Controller } from '@nestjs/common';
import { LIST_NEARLY_USED_LIMITS, type NearlyUsedLimit } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';

/** The counts include links that ended unrevealed meanwhile, so the usage is read for limits that may be nearly used. */
const NEARLY_USED = `
  select l.id, l.owner as account, l.per, c.value, p.product->>'name' as product,
    extract(epoch from u.resets_at)::float8 * 1000 as "resetsAt",
    case when l.links is not null then json_build_object('limit', l.links, 'used', u.links) end as links,
    case when l.amount is not null
      then json_build_object('limit', l.amount, 'used', u.amount, 'currency', l.currency) end as amount
  from limits l
  join limit_counts c on c.limit_id = l.id
  left join pools p on l.per = 'pool_id' and p.id::text = c.value
  cross join lateral limit_usage(l.id, c.value) u
  where l.per not in ('journey_id', 'reference')
    and (c.resets_at is null or c.resets_at > now())
    and (c.links >= 0.8 * l.links or c.amount >= 0.8 * l.amount)
    and c.period_start = u.period_start
    and (u.links >= 0.8 * l.links or u.amount >= 0.8 * l.amount)
  order by greatest(u.links / l.links::numeric, u.amount / l.amount) desc, l.id, c.value limit 200`;

/** Serves the limits that are nearly used up to the console's page for operators. */
@Controller()
export class NearlyUsedLimitsController {
  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_NEARLY_USED_LIMITS)
  async list(): Promise<{ limits: NearlyUsedLimit[] }> {
    return { limits: await this.dataSource.query<NearlyUsedLimit[]>(NEARLY_USED) };
  }
}
