/** The functions that withdraw cards (docs/adr/0048-withdrawals.md). */
import { ADVISORY_LOCKS, TRACKING_EVENT_VERSION } from '@perkway/domain';

const { giftCardCounting: COUNTING_LOCK, giftCardWithdrawing: WITHDRAWING_LOCK } = ADVISORY_LOCKS;

const COUNT = `
  -- Only called with the counting lock held exclusively.
  create function count_withdrawn(p_inventory integer, p_cards bigint) returns void language plpgsql as $$
  begin
    insert into inventory_counts as c (inventory_id, slot, withdrawn) values (p_inventory, 32, p_cards)
    on conflict (inventory_id, slot) do update set withdrawn = c.withdrawn + excluded.withdrawn;
  end $$;

  -- Returns how many cards a withdrawal has withdrawn by now, including those whose kept link has ended since
  -- settle_recalled ran.
  create function withdrawn_by(p_withdrawal uuid) returns bigint language sql stable as $$
    select w.withdrawn + (
      select count(*) from reward_links l
      where l.recalled_by = w.id and l.revealed_at is null and not l.released and l.expires_at <= now()
    )
    from withdrawals w where w.id = p_withdrawal
  $$`;

const TAKE_BACK = `
  -- Withdraws the cards of unrevealed links and releases these links: links that have ended, or links that are cancelled at
  -- p_cancelled. Only called with the counting lock held exclusively.
  create function withdraw_links(p_links uuid[], p_withdrawal uuid, p_cancelled timestamptz)
  returns void language plpgsql as $$
  declare e record;
  begin
    for e in
      with before as (
        select id, recalled_by, expires_at, settled_share(inventory_id, expires_at, id) as settled
        from reward_links where id = any (p_links)
      ), ended as (
        update reward_links l set released = true,
          expires_at = coalesce(p_cancelled, l.expires_at),
          cancelled_at = coalesce(p_cancelled, l.cancelled_at),
          recalled_by = case when p_cancelled is null and b.recalled_by is not null then b.recalled_by else p_withdrawal end
        from before b where l.id = b.id
        returning l.id, l.inventory_id, l.card_id, l.cancelled_at, l.recalled_by as withdrawal, b.settled,
          -- The card of a kept link counts as withdrawn since the link ended.
          case when p_cancelled is null and b.recalled_by is not null then l.expires_at else clock_timestamp() end as at
      ), stored as (
        insert into withdrawn_cards (card_id, inventory_id, withdrawal_id, withdrawn_at)
        select card_id, inventory_id, withdrawal, at from ended
      ), added as (
        update withdrawals w set withdrawn = w.withdrawn + n.cards
        from (select withdrawal, count(*) as cards from ended group by 1) n where w.id = n.withdrawal
      )
      select inventory_id, count(*)::integer as cards, sum(settled)::integer as settled,
        coalesce(array_agg(id) filter (where settled = 0 and cancelled_at is null), '{}') as untold
      from ended group by 1 order by 1
    loop
      perform count_links(e.inventory_id, -e.cards, 0, -e.settled);
      perform count_withdrawn(e.inventory_id, e.cards);
      perform tell_links('expired', e.untold);
    end loop;
    if p_cancelled is not null then perform tell_links('cancelled', p_links); end if;
  end $$`;

const STEP = (plan: string): string => `
  -- Takes the oldest running withdrawal one step further: looks at up to p_limit cards, first at free ones, then at those on
  -- links. A free card that goes to a link meanwhile is found there, and a card on a link never becomes free again.
  -- Returns false if there is nothing to do, or another replica is doing it.
  create function withdraw_cards(p_limit integer) returns boolean language plpgsql
  set lock_timeout = '250ms' ${plan} as $$
  declare
    w withdrawals;
    v_inventories integer[];
    v_picks integer[];
    v_cards bigint[];
    v_pick integer;
    v_card bigint;
    v_looked integer;
    v_links uuid[];
    v_now timestamptz;
    v_count bigint;
  begin
    if not pg_try_advisory_xact_lock(${WITHDRAWING_LOCK}) then return false; end if;
    select * into w from withdrawals where state = 'running' order by created_at, id limit 1;
    if w.id is null then return false; end if;
    v_inventories := array(
      select i.id from inventories i
      where i.pool_id = w.pool_id and (w.valid_until_before is null or i.valid_until < w.valid_until_before)
    );

    if not w.free_done then
      select min(i) into w.at_inventory from unnest(v_inventories) i where i >= w.at_inventory;
      if w.at_inventory is null then
        update withdrawals set free_done = true, at_card = -1 where id = w.id;
        return true;
      end if;
      select count(*), array_agg(f.pick) filter (where f.matches), array_agg(f.card_id) filter (where f.matches),
        (array_agg(f.pick order by f.pick desc, f.card_id desc))[1],
        (array_agg(f.card_id order by f.pick desc, f.card_id desc))[1]
      into v_looked, v_picks, v_cards, v_pick, v_card
      from (
        select f.pick, f.card_id, (w.batch is null or c.batch = w.batch) and (w.load_id is null or c.load_id = w.load_id)
          and (w.code_hashes is null or c.code_hash = any (w.code_hashes)) as matches
        from (
          select pick, card_id from free_cards
          where inventory_id = w.at_inventory and (pick, card_id) > (w.at_pick, w.at_card)
          order by pick, card_id limit p_limit
        ) f
        join cards c on c.id = f.card_id
      ) f;
      if v_cards is not null then
        -- From here to the commit no other transaction takes a card or changes a link.
        perform pg_advisory_xact_lock(${COUNTING_LOCK});
        with gone as (
          delete from free_cards f using unnest(v_picks, v_cards) as g (pick, card)
          where f.inventory_id = w.at_inventory and f.pick = g.pick and f.card_id = g.card
          returning f.card_id
        ), stored as (
          insert into withdrawn_cards (card_id, inventory_id, withdrawal_id)
          select card_id, w.at_inventory, w.id from gone
        )
        select count(*) into v_count from gone;
        perform count_withdrawn(w.at_inventory, v_count);
      end if;
      update withdrawals set
        withdrawn = withdrawn + coalesce(v_count, 0),
        at_inventory = case when v_looked < p_limit then w.at_inventory + 1 else w.at_inventory end,
        at_pick = case when v_looked < p_limit then -2147483648 else v_pick end,
        at_card = case when v_looked < p_limit then -1 else v_card end
      where id = w.id;
      return true;
    end if;

    if w.code_hashes is null then
      select count(*), array_agg(c.id) filter (where c.matches), max(c.id) into v_looked, v_cards, v_card
      from (
        select id, inventory_id = any (v_inventories) and (w.batch is null or batch = w.batch)
          and (w.load_id is null or load_id = w.load_id) as matches
        from cards where id > w.at_card order by id limit p_limit
      ) c;
    else
      v_looked := 0;
      v_cards := array(
        select id from cards where code_hash = any (w.code_hashes) and inventory_id = any (v_inventories)
      );
    end if;
    if v_cards <> '{}' then
      perform pg_advisory_xact_lock(${COUNTING_LOCK});
      v_now := clock_timestamp();
      v_links := array(
        select id from reward_links where card_id = any (v_cards) and not released and revealed_at is not null
      );
      w.redeemed := w.redeemed + cardinality(v_links);
      w.redeemed_links := (w.redeemed_links || v_links)[:1000];
      perform withdraw_links(array(
        select id from reward_links
        where card_id = any (v_cards) and not released and revealed_at is null and expires_at <= v_now
      ), w.id, null);
      v_links := array(
        select id from reward_links
        where card_id = any (v_cards) and not released and revealed_at is null and expires_at > v_now
      );
      if w.reserved = 'cancel' then
        perform withdraw_links(v_links, w.id, v_now);
        w.cancelled := w.cancelled + cardinality(v_links);
        w.cancelled_links := (w.cancelled_links || v_links)[:1000];
      else
        update reward_links set recalled_by = w.id where id = any (v_links) and recalled_by is null;
      end if;
    end if;
    update withdrawals set cancelled = w.cancelled, cancelled_links = w.cancelled_links,
      redeemed = w.redeemed, redeemed_links = w.redeemed_links,
      at_card = coalesce(v_card, at_card),
      state = case when v_looked < p_limit then 'done' else state end,
      finished_at = case when v_looked < p_limit then clock_timestamp() end
    where id = w.id;
    if v_looked < p_limit then
      insert into tracking_outbox (event)
      select jsonb_build_object(
        'v', ${TRACKING_EVENT_VERSION}, 'type', 'cards_withdrawn', 'id', d.id || ':withdrawn', 'account', p.owner,
        'at', floor(extract(epoch from d.finished_at) * 1000)::bigint, 'withdrawal', d.id, 'pool', d.pool_id,
        'withdrawn', withdrawn_by(d.id), 'cancelled', d.cancelled, 'redeemed', d.redeemed
      )
      from withdrawals d join pools p on p.id = d.pool_id where d.id = w.id;
    end if;
    return true;
  end $$`;

const SETTLE = (plan: string): string => `
  -- Withdraws the cards of kept links that have ended, at most p_limit. Reads of the numbers then count few links.
  -- Changes no number. Returns how many links it settled.
  create function settle_recalled(p_limit integer) returns integer language plpgsql
  set lock_timeout = '250ms' ${plan} as $$
  declare v_links uuid[];
  begin
    perform from reward_links
    where recalled_by is not null and revealed_at is null and not released and expires_at <= now() limit 1;
    if not found then return 0; end if;
    perform pg_advisory_xact_lock(${COUNTING_LOCK});
    v_links := array(
      select id from reward_links
      where recalled_by is not null and revealed_at is null and not released and expires_at <= now() limit p_limit
    );
    perform withdraw_links(v_links, null, null);
    return cardinality(v_links);
  end $$`;

export const DROP_WITHDRAWALS = `
  drop function if exists settle_recalled, withdraw_cards, withdraw_links, withdrawn_by, count_withdrawn`;

/** @param plan settings of each function that the app calls; those that it calls inherit them */
export const withdrawalFunctions = (plan: string): string =>
  [COUNT, TAKE_BACK, STEP(plan), SETTLE(plan)].join(';\n');
