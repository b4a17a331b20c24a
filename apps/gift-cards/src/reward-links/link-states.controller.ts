import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { COUNT_LINK_STATES, LIST_LINK_STATES, type LinkStates, type LinkWithState } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';
import { linkState } from './link-state.js';

/** A cancelled link has the state EXPIRED and the time of its cancellation. */
const LIST = `
  select id, replaced_by, revealed_at, cancelled_at,
    case
      when state = 'RESERVED' then 'waiting'
      when state = 'REVEALED' then 'opened'
      when cancelled_at is not null then 'cancelled'
      else 'expired'
    end as state
  from (
    select l.id, (select r.id from reward_links r where r.replaces = l.id) as replaced_by,
      l.revealed_at, l.cancelled_at, ${linkState('now()')} as state
    from reward_links l where l.account = $1 and l.id = any($2::uuid[])
  ) as links`;

const COUNT = `
  select count(*) filter (where state = 'waiting')::integer as waiting,
    count(*) filter (where state = 'opened')::integer as opened,
    count(*) filter (where state = 'cancelled')::integer as cancelled,
    count(*) filter (where state = 'expired')::integer as expired
  from (${LIST}) as links`;

interface Links {
  account: string;
  ids: string[];
}
interface LinkRow extends Pick<LinkWithState, 'id' | 'state'> {
  replaced_by: string | null;
  revealed_at: Date | null;
  cancelled_at: Date | null;
}

/** Returns the states of reward links to the console. */
@Controller()
export class LinkStatesController {
  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(COUNT_LINK_STATES)
  async count(@Payload() { account, ids }: Links): Promise<LinkStates> {
    const [states] = await this.dataSource.query<[LinkStates]>(COUNT, [account, ids]);
    return states;
  }

  @RpcHandler(LIST_LINK_STATES)
  async list(@Payload() { account, ids }: Links): Promise<{ links: LinkWithState[] }> {
    const rows = await this.dataSource.query<LinkRow[]>(LIST, [account, ids]);
    return {
      links: rows.map(({ id, state, replaced_by, revealed_at, cancelled_at }) => ({
        id,
        state,
        replacedBy: replaced_by,
        openedAt: revealed_at && revealed_at.toISOString(),
        cancelledAt: cancelled_at && cancelled_at.toISOString(),
      })),
    };
  }
}
