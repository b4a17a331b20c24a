import { Injectable } from '@nestjs/common';
import { ApiError, csvCell, SIGN_STATEMENT, unavailable, type Caller } from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import { DataSource } from 'typeorm';
import { MonthCloser, startOf } from './month-closer.js';
import type { Statement, StatementRow } from './statement.dto.js';

const MONTH = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])$/;

/** A signed statement of this many rows always fits into one message of the broker. */
const MAX_SIGNED_ROWS = 1_000;

const FIGURES = [
  'opening',
  'loaded',
  'revealed',
  'withdrawn',
  'closing',
  'generated',
  'cancelled',
  'expired',
  'outstanding',
] as const satisfies (keyof StatementRow)[];

const PREVIOUS_MONTH = `($2::date - interval '1 month')::date`;
const CLOSED_TOTALS = 'select * from month_totals where month = $2::date';

/**
 * The current totals of the account's inventories. `inventory_numbers` has those of cards; those of links are the
 * totals at the end of the previous month plus the links of this month.
 */
const CURRENT_TOTALS = `
  select i.id as inventory_id, p.owner as account, n.loaded, n.redeemed as revealed, n.withdrawn,
    coalesce(b.generated, 0) + coalesce(made.links, 0) as generated,
    coalesce(b.cancelled, 0) + coalesce(ended.cancelled, 0) as cancelled,
    coalesce(b.expired, 0) + coalesce(ended.expired, 0) as expired
  from pools p
  join inventories i on i.pool_id = p.id
  join inventory_numbers n on n.id = i.id
  left join month_totals b on b.inventory_id = i.id and b.month = ${PREVIOUS_MONTH}
  -- Links created since the month began.
  left join (
    select inventory_id, count(*) as links from reward_links
    where account in (select account from owners) and created_at >= ${startOf('$2::date')}
    group by 1
  ) made on made.inventory_id = i.id
  -- Links that ended unrevealed since the month began.
  left join (
    select inventory_id, count(cancelled_at) as cancelled, count(*) - count(cancelled_at) as expired from reward_links
    where account in (select account from owners)
      and revealed_at is null and expires_at >= ${startOf('$2::date')} and expires_at <= now()
    group by 1
  ) ended on ended.inventory_id = i.id
  where p.owner = $1 or b.account = $1`;

const since = (total: string): string =>
  `case when t.account = $1 then t.${total} - coalesce(b.${total}, 0) else 0 end as ${total}`;

/**
 * Selects the rows of a statement: the differences between the given totals (`t`) and those at the end of the previous
 * month (`b`). If a pool moved to or from another account in between, "loaded" contains its cards.
 */
const selectRows = (totals: string): string => `
  with owners as (
    -- The accounts that may have created links in the account's pools this month.
    select $1 as account
    union select p.owner from month_totals b join inventories i on i.id = b.inventory_id join pools p on p.id = i.pool_id
      where b.month = ${PREVIOUS_MONTH} and b.account = $1
    union select b.account from pools p join inventories i on i.pool_id = p.id join month_totals b on b.inventory_id = i.id
      where b.month = ${PREVIOUS_MONTH} and p.owner = $1
  ), figures as (
    -- By inventory: opening and closing stock and the changes. The rest of the difference in stock is "loaded".
    select i.pool_id, i.currency, i.country, i.denomination, stock.opening,
      stock.closing - stock.opening + changed.revealed + changed.withdrawn as loaded, stock.closing, stock.outstanding, changed.*
    from (${totals}) t
    left join month_totals b on b.inventory_id = t.inventory_id and b.month = ${PREVIOUS_MONTH}
    join inventories i on i.id = t.inventory_id
    cross join lateral (
      select case when b.account = $1 then b.loaded - b.revealed - b.withdrawn else 0 end as opening,
        case when t.account = $1 then t.loaded - t.revealed - t.withdrawn else 0 end as closing,
        case when t.account = $1 then t.generated - t.revealed - t.cancelled - t.expired else 0 end as outstanding
    ) stock
    cross join lateral (
      select ${['revealed', 'withdrawn', 'generated', 'cancelled', 'expired'].map(since).join(', ')}
    ) changed
    where $1 in (t.account, b.account)
  ), entries as (
    -- Sums the inventories of an entry: it has one for each date until which its cards are valid.
    select pool_id, currency, country, denomination, ${FIGURES.map((name) => `sum(${name}) as ${name}`).join(', ')}
    from figures group by 1, 2, 3, 4
  )
  select pool_id, currency, country, denomination::float8,
    ${FIGURES.map((name) => `jsonb_build_object('cards', ${name}, 'amount', ${name} * denomination) as ${name}`).join(', ')}
  from entries
  where ${FIGURES.map((name) => `${name} <> 0`).join(' or ')}
  order by 1, 2, 3, 4`;

@Injectable()
export class StatementsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly months: MonthCloser,
    private readonly rpc: RpcClient,
  ) {}

  /** @throws ApiError MONTH_INVALID; DEPENDENCY_UNAVAILABLE while transactions of an earlier month still run */
  async get({ account }: Caller, month: unknown): Promise<Statement> {
    if (typeof month !== 'string' || !MONTH.test(month)) throw new ApiError('MONTH_INVALID');
    const { open, current } = await this.months.close();
    if (month > current) throw new ApiError('MONTH_INVALID');
    const closed = month < open;
    if (!closed && open < current) throw unavailable('The statement');
    const rows = await this.dataSource.query<StatementRow[]>(
      selectRows(closed ? CLOSED_TOTALS : CURRENT_TOTALS),
      [account, `${month}-01`],
    );
    return { month, closed, rows };
  }

  /**
   * Returns the statement of a closed month as a compact JWS.
   *
   * @throws ApiError MONTH_INVALID, MONTH_OPEN; PAYLOAD_TOO_LARGE, DEPENDENCY_UNAVAILABLE
   */
  async sign(caller: Caller, month: string): Promise<string> {
    const { closed, rows } = await this.get(caller, month);
    if (!closed) throw new ApiError('MONTH_OPEN');
    if (rows.length > MAX_SIGNED_ROWS)
      throw new ApiError(
        'PAYLOAD_TOO_LARGE',
        `A statement of more than ${MAX_SIGNED_ROWS} rows cannot be signed`,
      );
    const { jws } = await this.rpc.request(SIGN_STATEMENT, { account: caller.account, month, rows });
    return jws;
  }
}

const COLUMNS = ['pool_id', 'currency', 'country', 'denomination'] as const;
const HEADER = [...COLUMNS, ...FIGURES.flatMap((figure) => [`${figure}_cards`, `${figure}_amount`])];

/** Returns the rows of a statement as RFC 4180. */
export function toCsv({ rows }: Statement): string {
  const cells = (row: StatementRow) => [
    ...COLUMNS.map((name) => row[name]),
    ...FIGURES.flatMap((figure) => [row[figure].cards, row[figure].amount]),
  ];
  return [HEADER, ...rows.map(cells)].map((line) => `${line.map(csvCell).join(',')}\r\n`).join('');
}
