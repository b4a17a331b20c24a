/**
 * The inventory numbers (docs/adr/0012-inventory-numbers.md) and the functions that change links.
 * docs/adr/0011-gift-card-reservation.md explains why a reservation is a database function.
 */
import { ADVISORY_LOCKS, TRACKING_EVENT_VERSION } from '@perkway/domain';
import { replacedMigrationName } from '@perkway/platform';
import { hash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { EXPIRES_AT } from '../reward-links/link-state.js';
import { DROP_LIMITS, limitFunctions } from './limit-functions.js';
import { DROP_WITHDRAWALS, withdrawalFunctions } from './withdrawal-functions.js';

const NUMBERS = `
  create view inventory_numbers as
  select i.id, i.pool_id, i.denomination, i.currency, i.country, i.valid_until,
    counts.loaded,
    case when lapse.is_over then 0 else unlinked.cards end as available,
    counts.holding - expired.links as reserved,
    counts.redeemed,
    counts.withdrawn + recalled.cards as withdrawn,
    case when lapse.is_over then unlinked.cards else 0 end as lapsed
  from inventories i
  cross join lateral (
    select coalesce(sum(loaded), 0)::bigint as loaded, coalesce(sum(holding), 0)::bigint as holding,
      coalesce(sum(redeemed), 0)::bigint as redeemed, coalesce(sum(settled), 0)::bigint as settled,
      coalesce(sum(withdrawn), 0)::bigint as withdrawn
    from inventory_counts where inventory_id = i.id
  ) counts
  cross join lateral (
    select counts.settled + (
      select count(*) from reward_links
      where inventory_id = i.id and revealed_at is null and not released
        and expires_at >= i.settled_until and expires_at <= now()
        and (expires_at, id) > (i.settled_until, i.settled_link)
    ) - case when i.settled_until <= now() then 0 else (
      -- Nonzero only if the clock was set back.
      select count(*) from reward_links
      where inventory_id = i.id and revealed_at is null and not released
        and expires_at > now() and expires_at <= i.settled_until
        and (expires_at, id) <= (i.settled_until, i.settled_link)
    ) end as links
    -- Makes Postgres compute the number once, although it is used twice.
    offset 0
  ) expired
  -- Withdrawn cards whose link has ended, until settle_recalled counts them in "withdrawn".
  cross join lateral (
    select count(*) as cards from reward_links
    where inventory_id = i.id and recalled_by is not null and revealed_at is null and not released
      and expires_at <= now()
    offset 0
  ) recalled
  cross join lateral (
    select counts.loaded - counts.redeemed - counts.holding + expired.links - counts.withdrawn - recalled.cards as cards
  ) unlinked
  cross join lateral (
    select coalesce(i.valid_until < (now() at time zone 'UTC')::date, false) as is_over
  ) lapse`;

/**
 * Connections keep plans for a long time. A plan made while the tables were empty would scan them fully once they have
 * grown, and the planner's estimates for arrays make it replan every call.
 */
const PLAN_ONCE = `set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off`;

const POOLS = `
  -- Returns pools with a row for each entry that has ever had cards, sorted by pool. An inventory has too few slots for a
  -- bitmap scan to pay off.
  create function pools_with_numbers(p_pools uuid[])
  returns table (
    id uuid, owner text, denomination numeric, currency text, country text, available bigint, reserved bigint,
    redeemed bigint, withdrawn bigint, lapsed bigint
  ) language plpgsql stable ${PLAN_ONCE} set enable_bitmapscan = off as $$
  begin
    return query
      select p.id, p.owner, n.denomination, n.currency, n.country, sum(n.available)::bigint, sum(n.reserved)::bigint,
        sum(n.redeemed)::bigint, sum(n.withdrawn)::bigint, sum(n.lapsed)::bigint
      from pools p left join inventory_numbers n on n.pool_id = p.id and n.loaded > 0
      where p.id = any (p_pools)
      group by p.id, n.denomination, n.currency, n.country
      order by p.id, n.denomination, n.currency, n.country;
  end $$`;

/** Epoch milliseconds. */
const milliseconds = (time: string): string => `floor(extract(epoch from ${time}) * 1000)::bigint`;

/** Advisory locks that the service takes in addition to row locks. */
const {
  giftCardSettling: SETTLING_LOCK,
  giftCardCounting: COUNTING_LOCK,
  giftCardSlot: SLOT_LOCK,
} = ADVISORY_LOCKS;
/**
 * Must run before any row of a link or card is touched. Expired links are not settled while a transaction changes
 * "holding", and transactions that share a slot wait before they hold locks that the other may need.
 */
const TAKE_SLOT = `perform pg_advisory_xact_lock_shared(${COUNTING_LOCK}),
      pg_advisory_xact_lock(${SLOT_LOCK})`;

const COUNT = `
  create function count_links(
    p_inventory integer, p_holding integer, p_redeemed integer, p_settled integer
  ) returns void language plpgsql as $$
  begin
    insert into inventory_counts as c (inventory_id, slot, holding, redeemed, settled)
    values (p_inventory, pg_backend_pid() % 16, p_holding, p_redeemed, p_settled)
    on conflict (inventory_id, slot) do update set
      holding = c.holding + excluded.holding,
      redeemed = c.redeemed + excluded.redeemed,
      settled = c.settled + excluded.settled;
  end $$;

  -- Returns 1 if a link of the inventory is counted in "settled", else 0.
  create function settled_share(p_inventory integer, p_expires_at timestamptz, p_link uuid)
  returns integer language plpgsql as $$
  begin
    perform from inventories where id = p_inventory and (settled_until, settled_link) >= (p_expires_at, p_link);
    return found::integer;
  end $$`;

/** The tracking event of the link `l` of the inventory `i`, as JSON. */
const linkEvent = (state: string): string => `jsonb_strip_nulls(jsonb_build_object(
      'v', ${TRACKING_EVENT_VERSION}, 'id', l.id || ':' || ${state}, 'account', l.account,
      'at', ${milliseconds(`case ${state}
        when 'generated' then l.created_at when 'revealed' then l.revealed_at when 'cancelled' then l.cancelled_at
        else l.expires_at end`)},
      'type', 'reward_link', 'state', ${state}, 'pool', i.pool_id, 'denomination', i.denomination,
      'currency', i.currency, 'country', i.country, 'createdBy', l.created_by,
      'createdAt', ${milliseconds('l.created_at')}, 'expiresAt', ${EXPIRES_AT},
      'campaign', l.campaign_id, 'journey', l.journey_id, 'reference', l.reference, 'replaces', l.replaces,
      'utm', l.attributes->'utm', 'cmeta', l.attributes->'cmeta'
    ))`;

const TELL = `
  -- Writes an event to the outbox for each of the links, which were revealed, were cancelled or have expired. Returns
  -- the events. Events written twice count once, because id and time depend only on the link.
  create function tell_links(p_state text, p_links uuid[]) returns setof text language plpgsql as $$
  begin
    return query insert into tracking_outbox (event)
    select ${linkEvent('p_state')}
    from reward_links l join inventories i on i.id = l.inventory_id
    where l.id = any (p_links)
    returning event;
  end $$`;

const TAKE = `
  -- Takes up to p_count cards of the inventory for new links: free ones, then those of unrevealed expired links, oldest
  -- expiry first, which releases these links for good. Skips rows that other transactions have locked.
  create function take_cards(p_inventory integer, p_count integer) returns bigint[] language plpgsql as $$
  declare
    v_start integer := floor(random() * 4294967296 - 2147483648);
    v_cards bigint[];
    v_more bigint[];
    v_settled integer;
    v_untold uuid[];
  begin
    with taken as (
      delete from free_cards where ctid = any (array(
        select ctid from free_cards where inventory_id = p_inventory and pick >= v_start
        order by pick limit p_count for update skip locked
      )) returning card_id
    ) select coalesce(array_agg(card_id), '{}') into v_cards from taken;
    if cardinality(v_cards) = p_count then return v_cards; end if;

    with taken as (
      delete from free_cards where ctid = any (array(
        select ctid from free_cards where inventory_id = p_inventory and pick < v_start
        order by pick limit p_count - cardinality(v_cards) for update skip locked
      )) returning card_id
    ) select coalesce(array_agg(card_id), '{}') into v_more from taken;
    v_cards := v_cards || v_more;
    if cardinality(v_cards) = p_count then return v_cards; end if;

    with taken as (
      update reward_links set released = true where id = any (array(
        select id from reward_links
        where inventory_id = p_inventory and revealed_at is null and not released and expires_at <= now()
          and recalled_by is null
        order by expires_at, id limit p_count - cardinality(v_cards) for update skip locked
      )) returning id, card_id, cancelled_at, settled_share(p_inventory, expires_at, id) as settled
    )
    select coalesce(array_agg(card_id), '{}'), coalesce(sum(settled), 0),
      coalesce(array_agg(id) filter (where settled = 0 and cancelled_at is null), '{}')
    into v_more, v_settled, v_untold from taken;
    if v_more <> '{}' then perform count_links(p_inventory, -cardinality(v_more), 0, -v_settled); end if;
    if v_untold <> '{}' then perform tell_links('expired', v_untold); end if;
    return v_cards || v_more;
  end $$`;

const RESERVE = `
  -- Handles requests for reward links: p_requests is an array of reservation_request with distinct links.
  -- Returns one row per request, in their order:
  --   EXISTS                 an earlier request created the link (body_digest, token_key)
  --   EXPIRING_DATE_INVALID, POOL_NOT_FOUND, NO_AVAILABLE_CARDS
  --   LIMIT_REACHED          with the limit and the seconds until it resets, as JSON
  --   UNSETTLED              links have ended that a limit still counts: call settle_limits and retry
  --   BUSY                   other transactions hold the last cards, or links expired meanwhile: retry alone, with p_wait
  --   GONE                   with p_wait: a card counts as available, but no row was found to wait for
  --   RESERVED               with the event that was written to the outbox
  -- With p_wait it waits for those transactions before it returns BUSY. It does not take the cards that they leave, because
  -- more links may have expired by then, which only a new transaction sees.
  create function reserve_links(p_requests jsonb, p_wait boolean)
  returns table (outcome text, body_digest bytea, token_key text, event text) language plpgsql
  ${PLAN_ONCE} as $$
  declare
    v_requests reservation_request[] := array(
      select q from jsonb_populate_recordset(null::reservation_request, p_requests) q
    );
    v_outcomes text[];
    v_events text[];
    -- Whether any of the pools has cards with an end of validity.
    v_dated boolean;
    g record;
    v_candidates integer[];
    v_settled_until timestamptz;
    v_inventory integer;
    v_inventories integer[];
    v_cards bigint[];
    v_taken bigint[];
    v_rest text;
    v_time timestamptz;
    v_shares limit_share[];
    v_refusals bigint[];
    v_hits bigint[];
  begin
    -- Lock the idempotency keys first and in a fixed order, before any card, so that transactions cannot deadlock.
    perform pg_advisory_xact_lock(k) from (
      select distinct hashtextextended('reward-link ' || q.link, 0) as k from unnest(v_requests) q order by 1
    ) keys;
    ${TAKE_SLOT};

    select array_agg(
      coalesce(
        -- The range and the order require the primary key. While the table is empty, "id = x" costs the same in other
        -- indexes, of which the plan would read every entry once the table has grown.
        (select 'EXISTS' from reward_links l where l.id between q.link and q.link order by l.id limit 1),
        case when to_timestamp(q.expires_at) <= clock_timestamp() then 'EXPIRING_DATE_INVALID' end
      )
      order by q.ordinality
    ) into v_outcomes
    from unnest(v_requests) with ordinality q;

    -- Counters are locked before any card, so that transactions cannot deadlock.
    perform from limits l where l.owner = any (array(select q.account from unnest(v_requests) q));
    if found then
      v_shares := limit_shares(v_requests, v_outcomes);
      if v_shares <> '{}' then
        select a.outcomes, a.refusals, a.hits into v_outcomes, v_refusals, v_hits
        from admit_links(v_shares, v_outcomes) a;
      end if;
    end if;

    v_dated := exists (
      select from inventories i
      where i.pool_id = any (array(select q.pool from unnest(v_requests) q)) and i.valid_until is not null
    );

    -- Requests for the same kind of card are handled together, in their order.
    for g in
      select q.account, q.pool, q.denomination, q.currency, q.country,
        case when v_dated then (to_timestamp(q.expires_at) at time zone 'UTC')::date end as last_day,
        array_agg(q.ordinality order by q.ordinality) as numbers, to_timestamp(min(q.expires_at)) as first_expiry
      from unnest(v_requests) with ordinality q where v_outcomes[q.ordinality] is null
      group by 1, 2, 3, 4, 5, 6
    loop
      perform from pools p where p.id = g.pool and p.owner = g.account;
      if found then
        -- Cards that lapse first are given first.
        select coalesce(array_agg(i.id order by i.country, i.valid_until), '{}'), max(i.settled_until)
        into v_candidates, v_settled_until
        from inventories i
        where i.pool_id = g.pool and i.denomination = g.denomination and i.currency = g.currency
          and (g.country is null or i.country = g.country)
          and (i.valid_until is null or i.valid_until >= g.last_day);
        v_rest := null;
      else
        v_candidates := '{}';
        v_rest := 'POOL_NOT_FOUND';
      end if;

      v_cards := '{}';
      v_inventories := '{}';
      foreach v_inventory in array v_candidates loop
        v_taken := take_cards(v_inventory, cardinality(g.numbers) - cardinality(v_cards));
        continue when v_taken = '{}';
        perform count_links(v_inventory, cardinality(v_taken), 0, 0);
        v_cards := v_cards || v_taken;
        v_inventories := v_inventories || array_fill(v_inventory, array[cardinality(v_taken)]);
        exit when cardinality(v_cards) = cardinality(g.numbers);
      end loop;
      if v_rest is null and cardinality(v_cards) < cardinality(g.numbers) then
        -- Transactions that hold the skipped cards may roll back, so only the numbers prove that no card is left.
        perform from inventory_numbers n where n.id = any (v_candidates) and n.available > 0;
        v_rest := case when found then 'BUSY' else 'NO_AVAILABLE_CARDS' end;
        if v_rest = 'BUSY' and p_wait then
          perform from free_cards f where f.inventory_id = any (v_candidates) limit 1 for update;
          if not found then
            perform from reward_links l
            where l.inventory_id = any (v_candidates) and l.revealed_at is null and not l.released
              and l.expires_at <= now() and l.recalled_by is null
            limit 1 for update;
          end if;
          if not found then v_rest := 'GONE'; end if;
        end if;
        if v_rest = 'NO_AVAILABLE_CARDS' then
          -- Links that expired while this transaction waited, whose cards only a new transaction takes.
          v_time := clock_timestamp();
          perform from reward_links l
          where l.inventory_id = any (v_candidates) and l.revealed_at is null and not l.released
            and l.expires_at > now() and l.expires_at <= v_time;
          if found then v_rest := 'BUSY'; end if;
        end if;
      end if;

      insert into reward_links (
        id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at,
        campaign_id, journey_id, reference, attributes, key_id, replaces, replacement_reason
      )
      select q.link, t.inventory, t.card, q.account, q.idempotency_key, decode(q.body_digest, 'hex'), q.token_key,
        q.created_by, to_timestamp(q.expires_at), q.campaign_id, q.journey_id, q.reference, q.attributes, q.key_id,
        q.replaces, q.replacement_reason
      from unnest(g.numbers, v_inventories, v_cards) as t (number, inventory, card)
      cross join lateral (select (v_requests[t.number]).*) q
      where t.card is not null;
      -- True only if the clock was set back: the settled position is ahead of a link that has not expired.
      if g.first_expiry <= v_settled_until then
        perform count_links(l.inventory_id, 0, 0, settled_share(l.inventory_id, l.expires_at, l.id))
        from reward_links l
        where l.card_id = any (v_cards) and not l.released;
      end if;
      for i in 1 .. cardinality(g.numbers) loop
        v_outcomes[g.numbers[i]] := case when i <= cardinality(v_cards) then 'RESERVED' else v_rest end;
      end loop;
    end loop;

    if v_shares <> '{}' then
      -- A request without a card gives back what it took from the limits, so those refused meanwhile are decided again.
      if exists (
        select from unnest(v_shares) s where v_outcomes[s.number] not in ('RESERVED', 'LIMIT_REACHED', 'UNSETTLED')
      ) then
        v_outcomes := array_replace(v_outcomes, 'LIMIT_REACHED', 'BUSY');
        v_hits := '{}';
      end if;
      perform count_limits(v_shares, v_outcomes, v_hits);
    end if;

    select array_agg(told.event order by q.ordinality) into v_events
    from unnest(v_requests) with ordinality q
    left join lateral (
      -- A replica of an earlier release may publish its own text too; under the same time, both count as one event.
      select coalesce(q.event, ${linkEvent(`'generated'`)}::text) as event
      from reward_links l join inventories i on i.id = l.inventory_id
      where l.id = q.link and v_outcomes[q.ordinality] = 'RESERVED' limit 1
    ) told on true;
    insert into tracking_outbox (event) select told from unnest(v_events) told where told is not null;
    return query
      select v_outcomes[q.ordinality], l.body_digest, l.token_key, case v_outcomes[q.ordinality]
          when 'LIMIT_REACHED' then (
            select jsonb_build_object(
              'limit', s.limit_id, 'resetsIn', ceil(extract(epoch from s.resets_at - now()))
            )::text
            from unnest(v_shares) s where s.counter = v_refusals[q.ordinality] limit 1
          )
          else v_events[q.ordinality]
        end
      from unnest(v_requests) with ordinality q
      left join lateral (
        select r.body_digest, r.token_key from reward_links r
        where r.id = q.link and v_outcomes[q.ordinality] = 'EXISTS' limit 1
      ) l on true
      order by q.ordinality;
  end $$;

  -- Called by replicas of earlier releases. Its columns must not change, because those replicas have prepared the call.
  create function reserve_cards(p_requests jsonb, p_wait boolean)
  returns table (outcome text, body_digest bytea, token_key text) language sql as $$
    select r.outcome, r.body_digest, r.token_key from reserve_links(p_requests, p_wait) r
  $$`;

const REVEAL = `
  -- Reveals a link that has not expired by the database's clock. Returns its event, or null if this call did not reveal
  -- it. (Earlier releases only check whether the result is truthy.)
  create function reveal_link(p_link uuid) returns text language plpgsql ${PLAN_ONCE} as $$
  declare v_link reward_links;
  begin
    ${TAKE_SLOT};
    update reward_links set revealed_at = clock_timestamp()
    where id = p_link and revealed_at is null and not released and expires_at > clock_timestamp()
    returning * into v_link;
    if not found then return null; end if;
    -- True only if the clock was set back: a limit has given the link back. Its counters are made again from the links.
    perform from limits where owner = v_link.account and settled_until >= v_link.expires_at;
    if found then
      delete from limit_counts where limit_id in (
        select id from limits where owner = v_link.account and settled_until >= v_link.expires_at
      );
    end if;
    perform count_links(
      v_link.inventory_id, -1, 1, -settled_share(v_link.inventory_id, v_link.expires_at, v_link.id)
    );
    return (select event from tell_links('revealed', array[p_link]) event);
  end $$`;

const CANCEL = `
  -- Moves the expiry of a link to now, unless it is revealed or expired. Returns its event, or null if this call did not
  -- cancel it. The card stays with the link until another link takes it, as for any expired link.
  create function cancel_link(p_link uuid, p_account text) returns text language plpgsql ${PLAN_ONCE} as $$
  declare
    v_link reward_links;
    v_now timestamptz;
    v_settled integer;
  begin
    ${TAKE_SLOT};
    select * into v_link from reward_links where id = p_link and account = p_account for no key update;
    v_now := clock_timestamp();
    if v_link.id is null or v_link.revealed_at is not null or v_link.released or v_link.expires_at <= v_now then
      return null;
    end if;
    update reward_links set expires_at = v_now, cancelled_at = v_now where id = p_link;
    -- Nonzero only if the clock was set back and either expiry is before the settled position.
    v_settled := settled_share(v_link.inventory_id, v_now, p_link)
      - settled_share(v_link.inventory_id, v_link.expires_at, p_link);
    if v_settled <> 0 then perform count_links(v_link.inventory_id, 0, 0, v_settled); end if;
    return (select event from tell_links('cancelled', array[p_link]) event);
  end $$`;

const SETTLE = `
  -- Moves the settled position of inventories past links that have expired since, at most p_limit in all, and writes their
  -- expired events, except for cancelled links. Reads of the numbers then count few links. Changes no number.
  -- Returns how many links it settled.
  create function settle_expired(p_limit integer) returns integer language plpgsql
  set lock_timeout = '250ms' ${PLAN_ONCE} as $$
  declare
    v_inventories integer[];
    v_inventory integer;
    v_until timestamptz;
    v_link uuid;
    v_count integer;
    v_untold uuid[];
    v_total integer := 0;
  begin
    if not pg_try_advisory_xact_lock(${SETTLING_LOCK}) then return 0; end if;
    v_inventories := array(
      select i.id from inventories i where exists (
        select from reward_links l
        where l.inventory_id = i.id and l.revealed_at is null and not l.released and l.expires_at <= now()
          and (l.expires_at, l.id) > (i.settled_until, i.settled_link)
      )
    );
    if v_inventories = '{}' then return 0; end if;
    -- From here to the commit no other transaction adds, reveals, cancels or releases a link, so counts are complete and
    -- events are final.
    perform pg_advisory_xact_lock(${COUNTING_LOCK});
    foreach v_inventory in array v_inventories loop
      with due as (
        select l.expires_at, l.id, l.cancelled_at from reward_links l join inventories i on i.id = v_inventory
        where l.inventory_id = v_inventory and l.revealed_at is null and not l.released and l.expires_at <= now()
          and (l.expires_at, l.id) > (i.settled_until, i.settled_link)
        order by l.expires_at, l.id limit p_limit - v_total
      )
      select d.expires_at, d.id, c.n, c.untold into v_until, v_link, v_count, v_untold
      from due d cross join (
        select count(*)::integer as n, coalesce(array_agg(id) filter (where cancelled_at is null), '{}') as untold from due
      ) c
      order by d.expires_at desc, d.id desc limit 1;
      continue when not found;
      update inventories set settled_until = v_until, settled_link = v_link where id = v_inventory;
      perform count_links(v_inventory, 0, 0, v_count);
      perform tell_links('expired', v_untold);
      v_total := v_total + v_count;
      exit when v_total >= p_limit;
    end loop;
    return v_total;
  end $$`;

const DROP = `${DROP_LIMITS};
  ${DROP_WITHDRAWALS};
  drop function if exists
    settle_expired, cancel_link, reveal_link, reserve_cards, reserve_links, take_cards, tell_links, settled_share, count_links,
    pools_with_numbers;
  drop view if exists inventory_numbers`;

const ALL = [
  DROP,
  NUMBERS,
  POOLS,
  COUNT,
  TELL,
  TAKE,
  limitFunctions(PLAN_ONCE),
  RESERVE,
  REVEAL,
  CANCEL,
  SETTLE,
  withdrawalFunctions(PLAN_ONCE),
].join(';\n');

/**
 * Replaces the view and the functions of this file. It runs after all other migrations, because the SQL may refer to
 * anything they create, and again whenever the SQL has changed, because its name contains a hash of it. Table changes
 * are separate migrations that do not depend on this one. Keep removed names in `DROP`, without their signatures.
 */
export class ViewsAndFunctions implements MigrationInterface {
  /** TypeORM requires a timestamp suffix and sorts by it. */
  readonly name = `ViewsAndFunctions${hash('sha256', ALL).slice(0, 16)}-9999999999999`;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ALL);
    // Rename older records, so that a rollback installs its own SQL again and older builds still find their migration.
    await runner.query('delete from migrations where name = $1', [replacedMigrationName(this.name)]);
    await runner.query(`update migrations set name = $1 || name where name like 'ViewsAndFunctions%'`, [
      replacedMigrationName(''),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DROP);
  }
}
