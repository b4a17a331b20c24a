import { Controller, Inject } from '@nestjs/common';
import { COUNT_TRAFFIC, type AccountTraffic } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';

const HOUR_MS = 60 * 60_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

/**
 * Hours before $4 are rolled up, so only later events are counted one by one. The primary key finds the last event of an
 * account without reading others.
 */
const COUNT = `
  select account_id as account, (
      select extract(epoch from max(e.occurred_at)) * 1000 from tracking_events e
      where e.account_id = counted.account_id and e.occurred_at >= $1 and e.occurred_at < $3
    )::float8 as "lastAt",
    coalesce(sum(events) filter (where at >= $2), 0)::float8 as events,
    coalesce(sum(events) filter (where at < $2), 0)::float8 as "eventsBefore",
    coalesce(sum(events) filter (
      where at >= $5::timestamptz - interval '24 hours' and at < $5
    ), 0)::float8 as "dayEvents",
    coalesce(sum(events) filter (
      where at >= $5::timestamptz - interval '48 hours' and at < $5::timestamptz - interval '24 hours'
    ), 0)::float8 as "dayEventsBefore"
  from (
    select account_id, hour as at, events from event_hours
    where hour >= $1 and hour < least($3::timestamptz, $4::timestamptz)
    union all
    select account_id, occurred_at, 1 from tracking_events
    where occurred_at >= greatest($1::timestamptz, $4::timestamptz) and occurred_at < $3
  ) as counted
  group by account_id`;

/** Counts the traffic of all accounts, for the operators' home in the console; part of the role `ingest`. */
@Controller()
export class TrafficController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  @RpcHandler(COUNT_TRAFFIC)
  async count(): Promise<AccountTraffic> {
    // The weeks consist of whole hours, including the current one, so that a rollup row belongs to one week.
    const dayTo = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const to = dayTo + HOUR_MS;
    const from = to - 2 * WEEK_MS;
    const [{ closed_to: closedTo }] = await this.dataSource.query<[{ closed_to: Date }]>(
      'select closed_to from rollup_state',
    );
    const accounts = await this.dataSource.query<AccountTraffic['accounts']>(COUNT, [
      new Date(from),
      new Date(to - WEEK_MS),
      new Date(to),
      closedTo,
      new Date(dayTo),
    ]);
    return { from, to, dayTo, accounts };
  }
}
