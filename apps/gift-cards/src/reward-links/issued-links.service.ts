import { Injectable } from '@nestjs/common';
import { ApiError, invalidField, isUuid, lastOf, type Caller, type RewardLinkState } from '@perkway/domain';
import {
  Conditions,
  exactTime,
  KeysetPaginator,
  type Listing,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';
import { IMPERSONAL, type FoundRewardLink, type RewardLink } from './issued-link.dto.js';
import { EXPIRES_AT, linkState } from './link-state.js';

export const ISSUED_LINKS: Listing = {
  name: 'reward-links',
  limitError: 'LIMIT_INVALID',
  cursorError: 'CURSOR_INVALID',
};

export const LINK_STATES: readonly RewardLinkState[] = ['RESERVED', 'REVEALED', 'EXPIRED'];
/** The first group of an id, which the Allocation Page shows to recipients as a reference. */
export const SHORT_ID = /^[0-9a-f]{8}$/;
/**
 * Links that one page may scan for filters without an index. A page that has not found enough by then is short, and the
 * next page continues from there.
 */
const MAX_WALK = 20_000;
/** More ids almost never share their first 8 characters. */
const MAX_FOUND = 20;

type Position = [at: string, id: string];

interface LinkRow extends Record<
  'campaign_id' | 'journey_id' | 'reference' | 'replaces' | 'replaced_by' | 'replacement_reason',
  string | null
> {
  id: string;
  pool_id: string;
  state: RewardLinkState;
  denomination: string;
  currency: string;
  country: string;
  created_by: string;
  created_at: Date;
  expires_at: string;
  revealed_at: Date | null;
  cancelled_at: Date | null;
  withdrawn_at: Date | null;
  /** `created_at` with microseconds. */
  at: string;
  /** False once the card of the ended link has gone to another link or was withdrawn. */
  holds_card: boolean;
}

const COLUMNS = `
  l.id, i.pool_id, i.denomination, i.currency, i.country, l.created_by, l.created_at, ${EXPIRES_AT} as expires_at,
  l.revealed_at, l.cancelled_at, l.campaign_id, l.journey_id, l.reference, l.replaces, l.replacement_reason,
  (select r.id from reward_links r where r.replaces = l.id) as replaced_by,
  (select w.created_at from withdrawals w where w.id = l.recalled_by and l.revealed_at is null) as withdrawn_at,
  ${exactTime('l.created_at')} as at, not l.released as holds_card`;
const NEWEST_FIRST = 'order by l.created_at desc, l.id desc';

/** Lists, shows and cancels the links of an account. Never returns a token or a card code. */
@Injectable()
export class IssuedLinksService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pages: KeysetPaginator,
    private readonly tracking: TrackingService,
  ) {}

  /** Lists the newest links first. @throws STATE_INVALID, POOL_ID_INVALID, LIMIT_INVALID, CURSOR_INVALID */
  async list({ account }: Caller, query: ListQuery): Promise<Page<RewardLink>> {
    const filters = readFilters(query);
    const page = this.pages.request<Position>(ISSUED_LINKS, query, account);

    /** Selects the links to scan by the filters that have an index, up to and including `last`. */
    const among = (last?: Position) => {
      const where = byIndex(new Conditions().and`l.account = ${account}`, filters);
      if (page.after)
        where.and`(l.created_at, l.id) < (${page.after[0]}::timestamptz, ${page.after[1]}::uuid)`;
      if (last) where.and`(l.created_at, l.id) >= (${last[0]}::timestamptz, ${last[1]}::uuid)`;
      return where;
    };
    const read = (found: Conditions, walk: number): Promise<LinkRow[]> => {
      const inner = `select * from reward_links l where ${found} ${NEWEST_FIRST} limit ${found.bind(walk)}`;
      const where = byFilter(new Conditions(...found.parameters), filters);
      return this.dataSource.query(
        `select ${COLUMNS}, ${linkState('now()')} as state
         from (${inner}) l join inventories i on i.id = l.inventory_id
         where ${where} ${NEWEST_FIRST} limit ${where.bind(page.rows)}`,
        where.parameters,
      );
    };
    const isWhole = filters.state === undefined && filters.pool_id === undefined;
    const rows = await read(among(), isWhole ? page.rows : MAX_WALK);
    const last = isWhole || rows.length === page.rows ? undefined : await this.endOfWalk(among());
    // Read again up to that position, because links created meanwhile have moved the end of the scan.
    return page.respond(
      last ? await read(among(last), MAX_WALK) : rows,
      ({ at, id }) => [at, id],
      toRewardLink,
      last,
    );
  }

  /** @throws LINK_NOT_FOUND */
  async get(caller: Caller, id: string): Promise<RewardLink> {
    return toRewardLink(await this.find(caller, id));
  }

  /** Finds links of all accounts by the first 8 characters of their ids. @throws VALIDATION_FAILED */
  async findInAllAccounts(given: unknown): Promise<FoundRewardLink[]> {
    const shortId = String(lastOf(given) ?? '').toLowerCase();
    if (!SHORT_ID.test(shortId)) throw invalidField('short_id', 'must be 8 hexadecimal digits');
    const where = new Conditions();
    andShortId(where, shortId);
    const rows = await this.dataSource.query<(LinkRow & { owner: string })[]>(
      `select ${COLUMNS}, ${linkState('now()')} as state, l.account as owner
       from reward_links l join inventories i on i.id = l.inventory_id
       where ${where} ${NEWEST_FIRST} limit ${MAX_FOUND}`,
      where.parameters,
    );
    return rows.map((row) => {
      const link = toRewardLink(row);
      const members = Object.fromEntries(IMPERSONAL.map((name) => [name, link[name]]));
      return { ...members, owner: row.owner } as FoundRewardLink;
    });
  }

  /**
   * Moves the expiry of a link to now; leaves an expired one as it is.
   *
   * @throws LINK_NOT_FOUND, LINK_ALREADY_REVEALED
   */
  async cancel(caller: Caller, id: string): Promise<RewardLink> {
    if (!isUuid(id)) throw new ApiError('LINK_NOT_FOUND');
    const [{ event }]: [{ event: string | boolean | null }] = await this.dataSource.query(
      'select cancel_link($1, $2) as event',
      [id, caller.account],
    );
    if (typeof event === 'string') this.tracking.relaySoon([event]);
    const link = await this.find(caller, id);
    if (link.state === 'REVEALED') throw new ApiError('LINK_ALREADY_REVEALED');
    return toRewardLink(link);
  }

  private async find({ account }: Caller, id: string): Promise<LinkRow> {
    const read = async (locking: string): Promise<LinkRow> => {
      const [link]: LinkRow[] = isUuid(id)
        ? await this.dataSource.query(
            `select ${COLUMNS}, ${linkState('clock_timestamp()')} as state
             from reward_links l join inventories i on i.id = l.inventory_id
             where l.id = $1 and l.account = $2 ${locking}`,
            [id, account],
          )
        : [];
      if (!link) throw new ApiError('LINK_NOT_FOUND');
      return link;
    };
    const link = await read('');
    // A reveal that was in time may still be uncommitted. EXPIRED is final, so wait for its row lock before reporting
    // it.
    return link.state === 'EXPIRED' && link.holds_card ? read('for share of l') : link;
  }

  private async endOfWalk(found: Conditions): Promise<Position | undefined> {
    const [end]: { at: string; id: string }[] = await this.dataSource.query(
      `select ${exactTime('l.created_at')} as at, l.id from reward_links l where ${found}
       ${NEWEST_FIRST} offset ${MAX_WALK - 1} limit 1`,
      found.parameters,
    );
    return end && [end.at, end.id];
  }
}

interface Filters {
  state: string | undefined;
  pool_id: string | undefined;
  short_id: string | undefined;
  created_by: string | undefined;
  reference: string | undefined;
  campaign_id: string | undefined;
  journey_id: string | undefined;
}

function readFilters(query: ListQuery): Filters {
  const text = (name: keyof Filters): string | undefined => {
    const given = lastOf(query[name]);
    return given === undefined ? undefined : String(given);
  };
  const state = text('state');
  if (state !== undefined && !(LINK_STATES as readonly string[]).includes(state))
    throw new ApiError('STATE_INVALID');
  const poolId = text('pool_id');
  if (poolId !== undefined && !isUuid(poolId)) throw new ApiError('POOL_ID_INVALID');
  /** Replaces NUL, which Postgres cannot store, so that such a filter matches no link. */
  const stored = (name: keyof Filters) => text(name)?.replaceAll('\0', '\uFFFD');
  return {
    state,
    pool_id: poolId,
    short_id: text('short_id')?.toLowerCase(),
    created_by: stored('created_by'),
    reference: stored('reference'),
    campaign_id: stored('campaign_id'),
    journey_id: stored('journey_id'),
  };
}

function andShortId(where: Conditions, shortId: string): void {
  const [first, last] = [`${shortId}-0000-0000-0000-000000000000`, `${shortId}-ffff-ffff-ffff-ffffffffffff`];
  where.and`l.id between ${first}::uuid and ${last}::uuid`;
}

/**
 * Adds the filters that have an index: that of the id, or one on (account, filter, created_at, id). Postgres uses one of
 * them and checks the rest.
 */
function byIndex(
  where: Conditions,
  { state, short_id, created_by, reference, campaign_id, journey_id }: Filters,
): Conditions {
  if (short_id !== undefined) {
    if (SHORT_ID.test(short_id)) andShortId(where, short_id);
    else where.and`false`;
  }
  if (journey_id !== undefined) where.and`l.journey_id = ${journey_id}`;
  if (reference !== undefined) where.and`l.reference = ${reference}`;
  if (campaign_id !== undefined) where.and`l.campaign_id = ${campaign_id}`;
  if (created_by !== undefined) where.and`l.created_by = ${created_by}`;
  if (state === 'REVEALED') where.and`l.revealed_at is not null`;
  return where;
}

function byFilter(where: Conditions, { state, pool_id }: Filters): Conditions {
  if (state === 'RESERVED') where.and`l.revealed_at is null and not l.released and l.expires_at > now()`;
  if (state === 'EXPIRED') where.and`l.revealed_at is null and (l.released or l.expires_at <= now())`;
  if (pool_id !== undefined) where.and`i.pool_id = ${pool_id}`;
  return where;
}

const isoTime = (time: Date | null): string | null => time && time.toISOString();

const toRewardLink = (row: LinkRow): RewardLink => ({
  id: row.id,
  pool_id: row.pool_id,
  state: row.state,
  denomination: Number(row.denomination),
  currency: row.currency,
  country: row.country,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  expires_at: Number(row.expires_at),
  revealed_at: isoTime(row.revealed_at),
  cancelled_at: isoTime(row.cancelled_at),
  withdrawn_at: isoTime(row.withdrawn_at),
  campaign_id: row.campaign_id,
  journey_id: row.journey_id,
  reference: row.reference,
  replaces: row.replaces,
  replaced_by: row.replaced_by,
  replacement_reason: row.replacement_reason,
});
