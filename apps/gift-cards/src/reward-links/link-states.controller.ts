import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { COUNT_LINK_STATES, type LinkStates } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';
import { linkState } from './link-state.js';

/** A cancelled link has the state EXPIRED and the time of its cancellation. */
const COUNT = `
  select count(*) filter (where state = 'RESERVED')::integer as waiting,
    count(*) filter (where state = 'REVEALED')::integer as opened,
    count(*) filter (where state = 'EXPIRED' and cancelled_at is not null)::integer as cancelled,
    count(*) filter (where state = 'EXPIRED' and cancelled_at is null)::integer as expired
  from (
    select l.cancelled_at, ${linkState('now()')} as state
    from reward_links l where l.account = $1 and l.id = any($2::uuid[])
  ) as links`;

/** Counts the links of a console's link job by state. */
@Controller()
export class LinkStatesController {
  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(COUNT_LINK_STATES)
  async count(@Payload() { account, ids }: { account: string; ids: string[] }): Promise<LinkStates> {
    const [states] = await this.dataSource.query<[LinkStates]>(COUNT, [account, ids]);
    return states;
  }
}
