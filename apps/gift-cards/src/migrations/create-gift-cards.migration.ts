import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Pools, cards and reward links. How they fit together, and why the reservation is a function in the database, is in
 * docs/adr/0011-gift-card-reservation.md; how the inventory numbers stay exact in docs/adr/0012-inventory-numbers.md.
 *
 * There are no foreign keys to `inventories` and `cards`: each check would lock the referenced row, which for
 * an inventory is one row under every reservation. Rows are only written by the functions below and by the loader, and
 * `npm run audit` proves the references.
 */
const TABLES = `
  create table pools (
    id uuid primary key,
    owner text not null,
    created_at timestamptz not null default now()
  );
  create index pools_owner on pools (owner);

  create table inventories (
    id integer generated always as identity primary key,
    pool_id uuid not null references pools,
    denomination numeric not null check (denomination > 0),
    currency text not null,
    country text not null,
    -- Links with (expires_at, id) up to here are in inventory_counts.settled, later ones are counted when asked for.
    settled_until timestamptz not null default '-infinity',
    settled_link uuid not null default '00000000-0000-0000-0000-000000000000',
    unique (pool_id, denomination, currency, country)
  );

  -- The numbers of an inventory are the sums over its slots. A transaction changes the slot of its own connection, so
  -- that concurrent reservations do not queue for one row until the other's commit is on the disk.
  create table inventory_counts (
    inventory_id integer not null,
    slot smallint not null,
    loaded bigint not null default 0,
    -- Unrevealed links that have a card, expired or not.
    holding bigint not null default 0,
    redeemed bigint not null default 0,
    -- Those of "holding" that have expired, up to the mark in the inventory.
    settled bigint not null default 0,
    primary key (inventory_id, slot)
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

  create sequence card_blocks;

  -- Never updated: what happens to a card happens in the tables below.
  create table cards (
    id bigint primary key,
    inventory_id integer not null,
    -- The first 128 bits of a keyed hash of the code: one card per code, in all pools and accounts.
    code_hash uuid not null unique,
    -- Code and PIN, encrypted and bound to the id.
    sealed bytea not null
  );

  -- The cards that no link has. Rows come with a load and go with a reservation. A reservation begins at a random pick, so
  -- that concurrent ones meet different rows, and neither walks over the places of cards already taken.
  create table free_cards (
    inventory_id integer not null,
    pick integer not null,
    card_id bigint not null,
    primary key (inventory_id, pick, card_id)
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

  create table reward_links (
    -- Follows from account and idempotency key, so the primary key is what makes a request count once.
    id uuid primary key,
    inventory_id integer not null,
    card_id bigint not null,
    account text not null,
    idempotency_key uuid not null,
    body_digest bytea not null,
    -- Which key of the ring the token was made with. The token itself is stored nowhere.
    token_key text not null,
    created_by text not null,
    expires_at timestamptz not null,
    created_at timestamptz not null default now(),
    revealed_at timestamptz,
    -- Expired, and its card has gone to another link.
    released boolean not null default false,
    check (not (released and revealed_at is not null))
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
  -- A card is never on two live links, whatever the code above does.
  create unique index reward_links_card on reward_links (card_id) where not released;
  create index reward_links_unrevealed on reward_links (inventory_id, expires_at, id)
    where revealed_at is null and not released;

  create table card_loads (
    id uuid primary key,
    pool_id uuid not null references pools,
    started_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    state text not null default 'running' check (state in ('running', 'finished', 'failed')),
    rows bigint not null default 0,
    imported bigint not null default 0,
    duplicates bigint not null default 0,
    rejected bigint not null default 0,
    -- The first of them: [{"row", "reason"}].
    duplicate_rows jsonb not null default '[]',
    rejected_rows jsonb not null default '[]'
  );
  create index card_loads_pool on card_loads (pool_id, started_at desc)`;

const NUMBERS = `
  create view inventory_numbers as
  select i.id, i.pool_id, i.denomination, i.currency, i.country,
    counts.loaded,
    counts.loaded - counts.redeemed - counts.holding + counts.settled + due.links as available,
    counts.holding - counts.settled - due.links as reserved,
    counts.redeemed
  from inventories i
  cross join lateral (
    select coalesce(sum(loaded), 0)::bigint as loaded, coalesce(sum(holding), 0)::bigint as holding,
      coalesce(sum(redeemed), 0)::bigint as redeemed, coalesce(sum(settled), 0)::bigint as settled
    from inventory_counts where inventory_id = i.id
  ) counts
  cross join lateral (
    select count(*) as links from reward_links
    where inventory_id = i.id and revealed_at is null and not released
      and expires_at <= now() and (expires_at, id) > (i.settled_until, i.settled_link)
  ) due`;

/** The numbers of the lock that keeps the settling apart from everything that changes "holding". */
const COUNTING_LOCK = '727105, 1';
const SETTLING_LOCK = '727105, 2';

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

  -- 1 if a link of the inventory is among those counted in "settled", else 0.
  create function settled_share(p_inventory integer, p_expires_at timestamptz, p_link uuid)
  returns integer language plpgsql as $$
  begin
    perform from inventories where id = p_inventory and (settled_until, settled_link) >= (p_expires_at, p_link);
    return found::integer;
  end $$`;

const TAKE = `
  -- Takes a card of the inventory for a new link: a free one, else that of the unrevealed link that expired first,
  -- which thereby ends for good. Null if there is none that nobody else is about to take.
  create function take_card(p_inventory integer) returns bigint language plpgsql as $$
  declare
    v_start integer := floor(random() * 4294967296 - 2147483648);
    v_card bigint;
    v_old reward_links;
  begin
    delete from free_cards where ctid = (
      select ctid from free_cards where inventory_id = p_inventory and pick >= v_start
      order by pick limit 1 for update skip locked
    ) returning card_id into v_card;
    if found then return v_card; end if;

    delete from free_cards where ctid = (
      select ctid from free_cards where inventory_id = p_inventory and pick < v_start
      order by pick limit 1 for update skip locked
    ) returning card_id into v_card;
    if found then return v_card; end if;

    update reward_links set released = true where id = (
      select id from reward_links
      where inventory_id = p_inventory and revealed_at is null and not released and expires_at <= now()
      order by expires_at, id limit 1 for update skip locked
    ) returning * into v_old;
    if not found then return null; end if;
    perform count_links(p_inventory, -1, 0, -settled_share(p_inventory, v_old.expires_at, v_old.id));
    return v_old.card_id;
  end $$`;

const RESERVE = `
  -- Decides about requests for reward links, in their order; p_requests is an array of
  -- {"link", "account", "pool", "denomination", "currency", "country", "expires_at" (Unix seconds), "created_by",
  -- "idempotency_key", "body_digest" (hex), "token_key", "event" (JSON text, for the outbox)}. One row per request:
  --   EXISTS                 this link was made before (body_digest, token_key)
  --   EXPIRING_DATE_INVALID, POOL_NOT_FOUND, NO_AVAILABLE_CARDS
  --   BUSY                   other transactions are about to take the last cards; ask again with p_wait
  --   RESERVED
  -- With p_wait there must be one request only: it waits for those transactions.
  create function reserve_cards(p_requests jsonb, p_wait boolean)
  returns table (outcome text, body_digest bytea, token_key text) language plpgsql as $$
  declare
    r record;
    v_asked text;
    v_pool_exists boolean;
    v_candidates integer[];
    v_settled_until timestamptz;
    v_inventory integer;
    v_card bigint;
    v_expires_at timestamptz;
    -- Links of one inventory that are made but not counted yet: one count for all of them costs as much as for one.
    v_uncounted_in integer;
    v_uncounted integer := 0;
    v_events text[] := '{}';
  begin
    -- First the same idempotency keys in one order, before any card is held: nobody can wait in a circle.
    perform pg_advisory_xact_lock(k) from (
      select distinct hashtextextended('reward-link ' || (q ->> 'link'), 0) as k
      from jsonb_array_elements(p_requests) q order by 1
    ) keys;
    perform pg_advisory_xact_lock_shared(${COUNTING_LOCK});

    for r in
      select q.* from rows from (jsonb_to_recordset(p_requests) as (
        link uuid, account text, pool uuid, denomination numeric, currency text, country text, expires_at bigint,
        created_by text, idempotency_key uuid, body_digest text, token_key text, event text
      )) with ordinality as q order by q.ordinality
    loop
      select 'EXISTS', l.body_digest, l.token_key into outcome, body_digest, token_key
      from reward_links l where l.id = r.link;
      -- Where nothing is found, all three are null.
      if found then return next; continue; end if;

      v_expires_at := to_timestamp(r.expires_at);
      if v_expires_at <= clock_timestamp() then
        outcome := 'EXPIRING_DATE_INVALID'; return next; continue;
      end if;

      if (r.account, r.pool, r.denomination, r.currency, r.country)::text is distinct from v_asked then
        v_asked := (r.account, r.pool, r.denomination, r.currency, r.country)::text;
        v_pool_exists := exists (select from pools p where p.id = r.pool and p.owner = r.account);
        select coalesce(array_agg(i.id order by i.country), '{}'), max(i.settled_until)
        into v_candidates, v_settled_until
        from inventories i
        where v_pool_exists and i.pool_id = r.pool and i.denomination = r.denomination
          and i.currency = r.currency and (r.country is null or i.country = r.country);
      end if;
      if not v_pool_exists then outcome := 'POOL_NOT_FOUND'; return next; continue; end if;

      v_card := null;
      loop
        foreach v_inventory in array v_candidates loop
          v_card := take_card(v_inventory);
          exit when v_card is not null;
        end loop;
        exit when v_card is not null;

        -- Skipping what others have locked is no proof that nothing is left: they may roll back. The numbers are.
        if v_uncounted > 0 then
          perform count_links(v_uncounted_in, v_uncounted, 0, 0);
          v_uncounted := 0;
        end if;
        perform from inventory_numbers n where n.id = any (v_candidates) and n.available > 0;
        if not found then outcome := 'NO_AVAILABLE_CARDS'; exit; end if;
        if not p_wait then outcome := 'BUSY'; exit; end if;
        perform from free_cards f where f.inventory_id = any (v_candidates) limit 1 for update;
        if not found then
          perform from reward_links l
          where l.inventory_id = any (v_candidates) and l.revealed_at is null and not l.released
            and l.expires_at <= now()
          limit 1 for update;
        end if;
      end loop;
      if v_card is null then return next; continue; end if;

      insert into reward_links (
        id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at
      ) values (
        r.link, v_inventory, v_card, r.account, r.idempotency_key, decode(r.body_digest, 'hex'), r.token_key,
        r.created_by, v_expires_at
      );
      -- Only after the clock was set back can the mark be ahead of a link that has not expired.
      if v_expires_at <= v_settled_until then
        perform count_links(v_inventory, 0, 0, settled_share(v_inventory, v_expires_at, r.link));
      end if;
      if v_inventory is distinct from v_uncounted_in and v_uncounted > 0 then
        perform count_links(v_uncounted_in, v_uncounted, 0, 0);
        v_uncounted := 0;
      end if;
      v_uncounted_in := v_inventory;
      v_uncounted := v_uncounted + 1;
      v_events := v_events || r.event;
      outcome := 'RESERVED';
      return next;
    end loop;
    if v_uncounted > 0 then perform count_links(v_uncounted_in, v_uncounted, 0, 0); end if;
    insert into tracking_outbox (event) select unnest(v_events);
  end $$`;

const REVEAL = `
  -- Reveals a link that has not expired by the clock of this server. True if this call did it.
  create function reveal_link(p_link uuid) returns boolean language plpgsql as $$
  declare v_link reward_links;
  begin
    perform pg_advisory_xact_lock_shared(${COUNTING_LOCK});
    update reward_links set revealed_at = clock_timestamp()
    where id = p_link and revealed_at is null and not released and expires_at > clock_timestamp()
    returning * into v_link;
    if not found then return false; end if;
    perform count_links(
      v_link.inventory_id, -1, 1, -settled_share(v_link.inventory_id, v_link.expires_at, v_link.id)
    );
    return true;
  end $$`;

const SETTLE = `
  -- Moves the mark of inventories in which at least p_at_least links have expired since, by up to p_limit links each,
  -- so that reading the numbers never counts many. Changes no number. Answers how many links it moved past.
  create function settle_expired(p_at_least integer, p_limit integer) returns integer language plpgsql
  set lock_timeout = '250ms' as $$
  declare
    v_inventories integer[];
    v_inventory integer;
    v_until timestamptz;
    v_link uuid;
    v_count integer;
    v_total integer := 0;
  begin
    if not pg_try_advisory_xact_lock(${SETTLING_LOCK}) then return 0; end if;
    v_inventories := array(
      select i.id from inventories i where exists (
        select from reward_links l
        where l.inventory_id = i.id and l.revealed_at is null and not l.released and l.expires_at <= now()
          and (l.expires_at, l.id) > (i.settled_until, i.settled_link)
        offset p_at_least - 1
      )
    );
    if v_inventories = '{}' then return 0; end if;
    -- From here to the commit nobody adds, reveals or reclaims a link: what is counted is all there is.
    perform pg_advisory_xact_lock(${COUNTING_LOCK});
    foreach v_inventory in array v_inventories loop
      with due as (
        select l.expires_at, l.id from reward_links l join inventories i on i.id = v_inventory
        where l.inventory_id = v_inventory and l.revealed_at is null and not l.released and l.expires_at <= now()
          and (l.expires_at, l.id) > (i.settled_until, i.settled_link)
        order by l.expires_at, l.id limit p_limit
      )
      select d.expires_at, d.id, c.n into v_until, v_link, v_count
      from due d cross join (select count(*)::integer as n from due) c
      order by d.expires_at desc, d.id desc limit 1;
      continue when not found;
      update inventories set settled_until = v_until, settled_link = v_link where id = v_inventory;
      perform count_links(v_inventory, 0, 0, v_count);
      v_total := v_total + v_count;
    end loop;
    return v_total;
  end $$`;

export class CreateGiftCards1767225610000 implements MigrationInterface {
  readonly name = 'CreateGiftCards1767225610000';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [TABLES, NUMBERS, COUNT, TAKE, RESERVE, REVEAL, SETTLE]) await runner.query(sql);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop function settle_expired, reveal_link, reserve_cards, take_card, settled_share, count_links;
      drop view inventory_numbers;
      drop table card_loads, reward_links, free_cards, cards, inventory_counts, inventories, pools;
      drop sequence card_blocks`);
  }
}
