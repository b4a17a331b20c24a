import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { LIST_LINK_OUTCOMES, type LinkOutcome } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';
import { linkState } from './link-state.js';

/** A cancelled link has the state EXPIRED and the time of its cancellation. */
const OUTCOMES = `
  select id, revealed_at, cancelled_at,
    case when state = 'RESERVED' then 'waiting'
      when state = 'REVEALED' then 'opened'
      when cancelled_at is not null then 'cancelled'
      else 'expired'
    end as state
  from (
    select l.id, l.revealed_at, l.cancelled_at, ${linkState('now()')} as state
    from reward_links l where l.account = $1 and l.id = any($2::uuid[])
  ) as links`;

interface OutcomeRow extends Pick<LinkOutcome, 'id' | 'state'> {
  revealed_at: Date | null;
  cancelled_at: Date | null;
}

/** Returns what became of the links of a console's link job. */
@Controller()
export class LinkOutcomesController {
  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_LINK_OUTCOMES)
  async list(
    @Payload() { account, ids }: { account: string; ids: string[] },
  ): Promise<{ links: LinkOutcome[] }> {
    const rows = await this.dataSource.query<OutcomeRow[]>(OUTCOMES, [account, ids]);
    return {
      links: rows.map(({ id, state, revealed_at, cancelled_at }) => ({
        id,
        state,
        openedAt: revealed_at && revealed_at.toISOString(),
        cancelledAt: cancelled_at && cancelled_at.toISOString(),
      })),
    };
  }
}
