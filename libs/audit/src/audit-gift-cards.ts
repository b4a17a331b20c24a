import type pg from 'pg';
import { inSnapshots } from './snapshot.js';

const NUMBERS = ['loaded', 'available', 'reserved', 'redeemed', 'withdrawn', 'lapsed'] as const;
type Numbers = Record<(typeof NUMBERS)[number], number>;

/** The cards of an inventory entry that are valid until the same day, or forever; counted card by card. */
export interface AuditedEntry extends Numbers {
  pool: string;
  denomination: number;
  currency: string;
  country: string;
  /** `YYYY-MM-DD`. */
  valid_until: string | null;
  /** The numbers that clients see, from counters. */
  shown: Numbers;
  holds: boolean;
}

export interface Finding {
  check: string;
  count: number;
  /** The first few ids. */
  examples: string[];
}

export interface CardsReport {
  /** The time of the database. */
  at: string;
  entries: AuditedEntry[];
  findings: Finding[];
  passed: boolean;
}

const EXAMPLES = 5;

/** Per pool entry: counted rows, and the sums of the counters. */
const ENTRIES = `
  select i.pool_id as pool, i.denomination::float8, i.currency, i.country, i.valid_until::text,
    coalesce(c.n, 0)::float8 as loaded,
    (case when d.is_over then 0 else u.n end)::float8 as available,
    coalesce(l.reserved, 0)::float8 as reserved,
    coalesce(l.redeemed, 0)::float8 as redeemed,
    (coalesce(w.n, 0) + coalesce(l.recalled, 0))::float8 as withdrawn,
    (case when d.is_over then u.n else 0 end)::float8 as lapsed,
    jsonb_build_object('loaded', n.loaded, 'available', n.available, 'reserved', n.reserved, 'redeemed', n.redeemed,
      'withdrawn', n.withdrawn, 'lapsed', n.lapsed) as shown
  from inventories i
  join inventory_numbers n on n.id = i.id
  left join (select inventory_id, count(*) as n from cards group by 1) c on c.inventory_id = i.id
  left join (select inventory_id, count(*) as n from free_cards group by 1) f on f.inventory_id = i.id
  left join (
    select inventory_id,
      count(*) filter (where revealed_at is not null) as redeemed,
      count(*) filter (where revealed_at is null and expires_at > now()) as reserved,
      count(*) filter (where revealed_at is null and expires_at <= now() and recalled_by is null) as expired,
      count(*) filter (where revealed_at is null and expires_at <= now() and recalled_by is not null) as recalled
    from reward_links where not released group by 1
  ) l on l.inventory_id = i.id
  left join (select inventory_id, count(*) as n from withdrawn_cards group by 1) w on w.inventory_id = i.id
  cross join lateral (select coalesce(f.n, 0) + coalesce(l.expired, 0) as n) u
  cross join lateral (
    select coalesce(i.valid_until < (now() at time zone 'UTC')::date, false) as is_over
  ) d
  order by 1, 2, 3, 4, 5`;

/** Every counter of a limit, counted again from the links. */
const LIMITS = `
  select l.id || ' of ' || l.owner as id
  from limit_counts c join limits l on l.id = c.limit_id
  cross join lateral (
    select count(*) as links, coalesce(sum(i.denomination) filter (where i.currency = l.currency), 0) as amount
    from reward_links r join inventories i on i.id = r.inventory_id
    where r.account = l.owner and r.created_at >= c.period_start and (c.resets_at is null or r.created_at < c.resets_at)
      and (l.only_pool is null or i.pool_id = l.only_pool)
      and (l.only_campaign is null or r.campaign_id = l.only_campaign)
      and (r.revealed_at is not null or r.expires_at > c.settled_until)
      and c.value = case l.per
        when 'account' then r.account when 'pool_id' then i.pool_id::text when 'campaign_id' then r.campaign_id
        when 'journey_id' then r.journey_id when 'created_by' then r.created_by when 'reference' then r.reference
        when 'key_id' then r.key_id end
  ) n
  where (c.links, c.amount) is distinct from (n.links, n.amount)
  union all
  select 'limit ' || c.limit_id from limit_counts c left join limits l on l.id = c.limit_id where l.id is null`;

const BEFORE_ITS_END = `< (m.month + interval '1 month') at time zone 'UTC'`;
/** The totals of closed months, counted again from the cards and links. */
const CLOSED_MONTHS = `
  select to_char(month, 'YYYY-MM') || ' of entry ' || inventory_id as id
  from (
    select m.month, c.inventory_id, count(*) as loaded
    from closed_months m join cards c on c.loaded_at ${BEFORE_ITS_END} group by 1, 2
  ) c
  left join (
    select m.month, l.inventory_id, count(*) as generated,
      count(*) filter (where revealed_at ${BEFORE_ITS_END}) as revealed,
      count(*) filter (where cancelled_at ${BEFORE_ITS_END}) as cancelled,
      count(*) filter (where revealed_at is null and cancelled_at is null and expires_at ${BEFORE_ITS_END}) as expired
    from closed_months m join reward_links l on l.created_at ${BEFORE_ITS_END} group by 1, 2
  ) l using (month, inventory_id)
  left join (
    select m.month, w.inventory_id, count(*) as withdrawn
    from closed_months m
    join (
      select inventory_id, withdrawn_at from withdrawn_cards
      union all
      select inventory_id, expires_at from reward_links
      where recalled_by is not null and revealed_at is null and not released
    ) w on w.withdrawn_at ${BEFORE_ITS_END} group by 1, 2
  ) w using (month, inventory_id)
  full join month_totals t using (month, inventory_id)
  where (
    c.loaded, coalesce(l.revealed, 0), coalesce(w.withdrawn, 0), coalesce(l.generated, 0), coalesce(l.cancelled, 0),
    coalesce(l.expired, 0)
  ) is distinct from (t.loaded, t.revealed, t.withdrawn, t.generated, t.cancelled, t.expired)`;

/** Queries for states that must not exist. Each returns one id per violation. */
const FORBIDDEN: Record<string, string> = {
  'a card on two live links': `
    select card_id::text as id from reward_links where not released group by card_id having count(*) > 1`,
  'a revealed link without its card': `
    select l.id::text from reward_links l left join cards c on c.id = l.card_id and c.inventory_id = l.inventory_id
    where l.revealed_at is not null and c.id is null`,
  'a link to a card that does not exist or belongs to another entry': `
    select l.id::text from reward_links l left join cards c on c.id = l.card_id and c.inventory_id = l.inventory_id
    where c.id is null`,
  'a revealed link whose card was released': `
    select id::text from reward_links where revealed_at is not null and released`,
  'a cancelled link that was revealed': `
    select id::text from reward_links where cancelled_at is not null and revealed_at is not null`,
  'a cancelled link whose expiry is not its cancellation': `
    select id::text from reward_links where cancelled_at <> expires_at`,
  'a card that is neither free nor on a link': `
    select id::text from cards
    except all (select card_id::text from free_cards
      union all select card_id::text from reward_links where not released
      union all select card_id::text from withdrawn_cards)`,
  'a withdrawn card that is free, on a live link or of another entry': `
    select w.card_id::text as id from withdrawn_cards w
    left join cards c on c.id = w.card_id and c.inventory_id = w.inventory_id
    left join reward_links l on l.card_id = w.card_id and not l.released
    where c.id is null or l.id is not null
      or w.card_id in (select f.card_id from free_cards f where f.inventory_id = w.inventory_id)`,
  'a link that outlives its card': `
    select l.id::text from reward_links l join inventories i on i.id = l.inventory_id
    where l.expires_at >= (i.valid_until + 1) at time zone 'UTC' and l.cancelled_at is null`,
  'a card that is free and on a live link': `
    select f.card_id::text as id from free_cards f join reward_links l on l.card_id = f.card_id and not l.released`,
  'a card that is free twice': `
    select card_id::text as id from free_cards group by card_id having count(*) > 1`,
  'a free card that does not exist or belongs to another entry': `
    select f.card_id::text as id from free_cards f
    left join cards c on c.id = f.card_id and c.inventory_id = f.inventory_id where c.id is null`,
  'a code on two cards': `
    select min(id)::text as id from cards group by code_hash having count(*) > 1`,
  'a card, link or count of an entry that does not exist': `
    select 'entry ' || u.inventory_id as id from (
      select distinct inventory_id from cards union select distinct inventory_id from reward_links
      union select distinct inventory_id from free_cards union select distinct inventory_id from inventory_counts
    ) u left join inventories i on i.id = u.inventory_id where i.id is null`,
  'a wrong count of expired links': `
    select 'entry ' || i.id as id from inventories i
    left join lateral (select coalesce(sum(settled), 0) as n from inventory_counts where inventory_id = i.id) c on true
    left join lateral (
      select count(*) as n from reward_links l where l.inventory_id = i.id and l.revealed_at is null
        and not l.released and (l.expires_at, l.id) <= (i.settled_until, i.settled_link)
    ) l on true
    where c.n <> l.n`,
  'a wrong count of a withdrawal': `
    select w.id::text from withdrawals w
    left join (select withdrawal_id, count(*) as n from withdrawn_cards group by 1) c on c.withdrawal_id = w.id
    where w.withdrawn <> coalesce(c.n, 0)`,
  'a replacement of a link that can still be revealed or has another account': `
    select r.id::text from reward_links r left join reward_links l on l.id = r.replaces and l.account = r.account
    where r.replaces is not null
      and (l.id is null or (l.revealed_at is null and not l.released and l.expires_at > now()))`,
  'a wrong count of a limit': LIMITS,
  'a wrong total of a closed month': CLOSED_MONTHS,
};

type EntryRow = Omit<AuditedEntry, 'holds'>;

const toEntry = (row: EntryRow): AuditedEntry => {
  const places = [row.available, row.reserved, row.redeemed, row.withdrawn, row.lapsed];
  const isComplete = places.reduce((sum, cards) => sum + cards, 0) === row.loaded && Math.min(...places) >= 0;
  return { ...row, holds: isComplete && NUMBERS.every((name) => row.shown[name] === row[name]) };
};

/**
 * Checks that every gift card is in exactly one place and that the numbers that clients see match a full recount. It
 * reads one snapshot while the apps run, and changes nothing.
 */
export function auditGiftCards(client: pg.ClientBase): Promise<CardsReport> {
  return inSnapshots([client], async () => {
    await client.query(`set local search_path = gift_cards`);
    const { rows: clock } = await client.query<{ at: string }>(
      `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
    );
    const entries = (await client.query<EntryRow>(ENTRIES)).rows.map(toEntry);
    const findings: Finding[] = [];
    for (const [check, sql] of Object.entries(FORBIDDEN)) {
      const { rows } = await client.query<{ count: number; examples: string[] | null }>(
        `select count(*)::float8 as count, (array_agg(id))[:${EXAMPLES}] as examples from (${sql}) offender (id)`,
      );
      const { count, examples } = rows[0]!;
      if (count > 0) findings.push({ check, count, examples: examples ?? [] });
    }
    const passed = findings.length === 0 && entries.every(({ holds }) => holds);
    return { at: clock[0]!.at, entries, findings, passed };
  });
}
