/** The functions that count links for limits (docs/adr/0041-limits.md). */
import { ADVISORY_LOCKS, TRACKING_EVENT_VERSION } from '@perkway/domain';

const { giftCardCounting: COUNTING_LOCK, giftCardLimits: LIMITS_LOCK } = ADVISORY_LOCKS;

/** Deletes the counters, so that requests recompute them: after a rollback, an earlier release does not count links. */
const RECOUNT = `select pg_advisory_xact_lock(${COUNTING_LOCK});
  delete from limit_counts`;

const PERIOD = `
  -- Returns the first instant of a local day. If the clocks go back at midnight, the local time occurs twice.
  create function local_midnight(p_local timestamp, p_timezone text) returns timestamptz language sql stable as $$
    select case
      when ((p_local at time zone p_timezone) - interval '1 hour') at time zone p_timezone >= p_local
      then (p_local at time zone p_timezone) - interval '1 hour'
      else p_local at time zone p_timezone
    end
  $$;

  -- Returns the period that contains p_at. "total" starts in 1970 and has no end. Written so that Postgres inlines it.
  create function limit_period(p_at timestamptz, p_period text, p_timezone text)
  returns table (period_start timestamptz, resets_at timestamptz) language sql stable as $$
    select
      case when p_period = 'total' then to_timestamp(0) else local_midnight(d.day, p_timezone) end,
      case when p_period <> 'total' then local_midnight(d.day + ('1 ' || p_period)::interval, p_timezone) end
    from (select date_trunc(case p_period when 'total' then 'year' else p_period end, p_at at time zone p_timezone) as day) d
  $$`;

const COLUMN = {
  account: 'l.account',
  pool_id: 'i.pool_id::text',
  campaign_id: 'l.campaign_id',
  journey_id: 'l.journey_id',
  created_by: 'l.created_by',
  reference: 'l.reference',
  key_id: 'l.key_id',
};
type Per = keyof typeof COLUMN;
/** A value of these fields has few links. Reading them all is cheaper than reading all ended links of the account. */
const SMALL: Per[] = ['journey_id', 'reference'];

const sums = (links: string, per: Per): string => `
      select count(*), coalesce(sum(i.denomination) filter (where i.currency = p_limit.currency), 0)
      from (${links} offset 0) l join inventories i on i.id = l.inventory_id
      where l.created_at >= p_start and (p_end is null or l.created_at < p_end) and ${COLUMN[per]} = p_value
        and (p_limit.only_pool is null or i.pool_id = p_limit.only_pool)
        and (p_limit.only_campaign is null or l.campaign_id = p_limit.only_campaign)`;
const branches = (links: (per: Per) => string): string =>
  `case p_limit.per ${(Object.keys(COLUMN) as Per[])
    .map((per) => `when '${per}' then return query ${sums(links(per), per)};`)
    .join('\n    ')}
    end case;`;
/** Returns whether there is an index on the account and this field. */
const hasIndex = (per: Per): boolean => per !== 'account' && per !== 'pool_id' && per !== 'key_id';
const ofPeriod = (per: Per): string => `select * from reward_links l
        where l.account = p_limit.owner${hasIndex(per) ? ` and ${COLUMN[per]} = p_value` : ''}
          and l.created_at >= p_start and l.created_at < coalesce(p_end, 'infinity')`;

const COUNT = (plan: string): string => `
  -- Counts the links of a period, ended or not.
  create function limit_made(p_limit limits, p_value text, p_start timestamptz, p_end timestamptz)
  returns table (links bigint, amount numeric) language plpgsql stable as $$
  begin
    ${branches(ofPeriod)}
  end $$;

  -- Counts the unrevealed links of a period that ended after p_settled, p_until included.
  create function limit_ended(
    p_limit limits, p_value text, p_start timestamptz, p_end timestamptz, p_settled timestamptz, p_until timestamptz
  ) returns table (links bigint, amount numeric) language plpgsql stable as $$
  begin
    ${branches((per) =>
      SMALL.includes(per)
        ? `${ofPeriod(per)} and l.revealed_at is null and l.expires_at > p_settled and l.expires_at <= p_until`
        : `select * from reward_links l
        where l.account = p_limit.owner and l.revealed_at is null
          and l.expires_at > greatest(p_settled, p_start) and l.expires_at <= p_until`,
    )}
  end $$;

  -- Returns what a value has used of a limit in the current period.
  create function limit_usage(p_limit text, p_value text)
  returns table (period_start timestamptz, resets_at timestamptz, links bigint, amount numeric)
  language plpgsql stable ${plan} as $$
  begin
    return query
    select p.period_start, p.resets_at, m.links - e.links, m.amount - e.amount
    from limits l
    cross join lateral limit_period(now(), l.period, l.timezone) p
    left join limit_counts c on c.limit_id = l.id and c.value = p_value and c.period_start = p.period_start
      -- Not if the clock was set back.
      and c.settled_until <= now()
    cross join lateral (
      select c.links, c.amount where c.limit_id is not null
      union all
      select t.links, t.amount from limit_made(l, p_value, p.period_start, p.resets_at) t where c.limit_id is null
    ) m
    cross join lateral limit_ended(
      l, p_value, p.period_start, p.resets_at, coalesce(c.settled_until, p.period_start), now()
    ) e
    where l.id = p_limit;
  end $$`;

const SHARES = `
  -- Returns what the requests without an outcome count for. In each request, the limit that resets last comes first.
  create function limit_shares(p_requests reservation_request[], p_outcomes text[])
  returns limit_share[] language plpgsql stable as $$
  declare v_accounts text[] := array(select distinct q.account from unnest(p_requests) q);
  begin
    return array(
      -- Materialized, so that each period is computed once and not for each request.
      with l as materialized (
        select m.*, p.period_start, p.resets_at
        from limits m cross join lateral limit_period(now(), m.period, m.timezone) p
        where m.owner = any (v_accounts)
      ), applied as (
        select q.ordinality, l.id, l.period_start, l.resets_at, l.links, l.amount,
          case when l.currency = q.currency then q.denomination else 0 end as given,
          case l.per
            when 'account' then q.account
            when 'pool_id' then q.pool::text
            when 'campaign_id' then q.campaign_id
            when 'journey_id' then q.journey_id
            when 'created_by' then q.created_by
            when 'reference' then q.reference
            when 'key_id' then q.key_id
          end as value
        from unnest(p_requests) with ordinality q
        join l on l.owner = q.account
          and (l.only_pool is null or l.only_pool = q.pool)
          and (l.only_campaign is null or l.only_campaign = q.campaign_id)
        where p_outcomes[q.ordinality] is null
          and exists (select from pools o where o.id = q.pool and o.owner = q.account)
      )
      select row(
        a.ordinality, dense_rank() over (order by a.id, a.value, a.period_start), a.id, a.value, a.period_start,
        a.resets_at, a.links, a.amount, a.given
      )::limit_share
      from applied a where a.value is not null
      order by a.ordinality, a.resets_at desc nulls first, a.id
    );
  end $$`;

const ADMIT = `
  -- Locks the counters of the requests until the commit, in a fixed order and before any card, and decides which requests
  -- are within their limits. The outcome of the others is LIMIT_REACHED, or UNSETTLED if links have ended that a counter
  -- still includes. Also returns, per request, the counter to report, and all counters that refused a link.
  create function admit_links(
    p_shares limit_share[], p_outcomes text[], out outcomes text[], out refusals bigint[], out hits bigint[]
  ) language plpgsql as $$
  declare
    -- One share of each counter, by counter.
    v_counters limit_share[] := array(select distinct on (s.counter) s from unnest(p_shares) s order by s.counter);
    v_links bigint[];
    v_amounts numeric[];
    v_ahead boolean;
    v_stale boolean[];
    s limit_share;
    v_place integer := 1;
    v_end integer;
    v_over bigint[];
  begin
    outcomes := p_outcomes;
    refusals := '{}';
    hits := '{}';
    insert into limit_counts (limit_id, value, period_start, resets_at, links, amount, settled_until)
    select n.limit_id, n.value, n.period_start, n.resets_at, m.links, m.amount, n.period_start
    from unnest(v_counters) n
    join limits l on l.id = n.limit_id
    cross join lateral limit_made(l, n.value, n.period_start, n.resets_at) m
    where not exists (
      select from limit_counts c
      where c.limit_id = n.limit_id and c.value = n.value and c.period_start = n.period_start
    )
    order by n.counter
    on conflict do nothing;

    select array_agg(c.links order by c.counter), array_agg(c.amount order by c.counter), bool_or(c.settled_until > now())
    into v_links, v_amounts, v_ahead
    from (
      select n.counter, c.links, c.amount, c.settled_until from unnest(v_counters) n
      join limit_counts c on c.limit_id = n.limit_id and c.value = n.value and c.period_start = n.period_start
      order by n.counter
      for update of c
    ) c;

    if v_ahead then
      -- The clock was set back, so links that were given back may still be revealed.
      with counted as (
        update limit_counts c set links = m.links, amount = m.amount, settled_until = c.period_start
        from unnest(v_counters) n
        join limits l on l.id = n.limit_id
        cross join lateral limit_made(l, n.value, n.period_start, n.resets_at) m
        where c.limit_id = n.limit_id and c.value = n.value and c.period_start = n.period_start
        returning n.counter, c.links, c.amount
      )
      select array_agg(links order by counter), array_agg(amount order by counter) into v_links, v_amounts from counted;
    end if;

    while v_place <= cardinality(p_shares) loop
      s := p_shares[v_place];
      v_end := v_place;
      while p_shares[v_end + 1].number = s.number loop v_end := v_end + 1; end loop;
      v_over := '{}';
      for i in v_place .. v_end loop
        s := p_shares[i];
        if v_links[s.counter] + 1 > s.max_links
          or (s.amount > 0 and v_amounts[s.counter] + s.amount > s.max_amount)
        then v_over := v_over || s.counter; end if;
      end loop;
      if v_over = '{}' then
        for i in v_place .. v_end loop
          s := p_shares[i];
          v_links[s.counter] := v_links[s.counter] + 1;
          v_amounts[s.counter] := v_amounts[s.counter] + s.amount;
        end loop;
      else
        if v_stale is null then
          -- Finds counters with ended links, including those that ended while this transaction waited. Only
          -- settle_limits may give them back: a reveal of such a link may still have to be committed.
          select array_agg(e.links > 0 order by n.counter) into v_stale
          from unnest(v_counters) n
          join limit_counts c on c.limit_id = n.limit_id and c.value = n.value and c.period_start = n.period_start
          join limits l on l.id = n.limit_id
          cross join lateral limit_ended(
            l, c.value, c.period_start, c.resets_at, c.settled_until, clock_timestamp()
          ) e;
        end if;
        if exists (select from unnest(v_over) o where v_stale[o]) then
          outcomes[s.number] := 'UNSETTLED';
        else
          outcomes[s.number] := 'LIMIT_REACHED';
          refusals[s.number] := v_over[1];
          hits := hits || v_over;
        end if;
      end if;
      v_place := v_end + 1;
    end loop;
  end $$;

  -- Adds the reserved links to their counters, and writes the event of each limit that they reach.
  create function count_limits(p_shares limit_share[], p_outcomes text[], p_hits bigint[])
  returns void language plpgsql as $$
  begin
    with given as (
      select s.counter, s.limit_id, s.value, s.period_start, s.max_links, s.max_amount,
        count(*) filter (where p_outcomes[s.number] = 'RESERVED') as links,
        coalesce(sum(s.amount) filter (where p_outcomes[s.number] = 'RESERVED'), 0) as amount
      from unnest(p_shares) s group by 1, 2, 3, 4, 5, 6
    ), counted as (
      update limit_counts c set links = c.links + g.links, amount = c.amount + g.amount,
        reached_at = case
          when c.reached_at is null and (
            g.counter = any (p_hits) or c.links + g.links >= g.max_links or c.amount + g.amount >= g.max_amount
          ) then now() else c.reached_at
        end
      from given g
      where c.limit_id = g.limit_id and c.value = g.value and c.period_start = g.period_start
        and (g.links > 0 or (c.reached_at is null and g.counter = any (p_hits)))
      returning c.*
    )
    insert into tracking_outbox (event)
    select jsonb_build_object(
      'v', ${TRACKING_EVENT_VERSION}, 'type', 'limit_reached',
      -- The same for every replica and after a recount, so that the event counts once.
      'id', md5(concat_ws(E'\\n', l.id, extract(epoch from l.created_at), c.value, extract(epoch from c.period_start))) || ':limit_reached',
      'account', l.owner, 'at', floor(extract(epoch from now()) * 1000)::bigint,
      'limit', l.id, 'periodStart', floor(extract(epoch from c.period_start) * 1000)::bigint,
      'resetsAt', floor(extract(epoch from c.resets_at) * 1000)::bigint
    ) || case
      -- A person's id would have to be erased from the event.
      when l.per in ('journey_id', 'reference') then '{}' else jsonb_build_object('value', c.value)
    end
    from counted c join limits l on l.id = c.limit_id
    where c.reached_at = now();
  end $$`;

const SETTLE = (plan: string): string => `
  -- Gives links that have ended back to the counters of a request. While it runs nothing reveals, cancels or makes a link,
  -- so what it counts is final.
  create function settle_limits(p_request jsonb) returns void language plpgsql ${plan} as $$
  declare
    v_requests reservation_request[] := array[jsonb_populate_record(null::reservation_request, p_request)];
    v_shares limit_share[];
  begin
    -- Requests of one account that wait here find nothing left to settle.
    perform pg_advisory_xact_lock(${LIMITS_LOCK}, hashtext(p_request->>'account'));
    v_shares := limit_shares(v_requests, array[null::text]);
    perform from unnest(v_shares) s join limits l on l.id = s.limit_id
    join limit_counts c on c.limit_id = s.limit_id and c.value = s.value and c.period_start = s.period_start
    cross join lateral limit_ended(l, c.value, c.period_start, c.resets_at, c.settled_until, now()) e
    where e.links > 0;
    if not found then return; end if;
    perform pg_advisory_xact_lock(${COUNTING_LOCK});
    update limit_counts c set links = c.links - e.links, amount = c.amount - e.amount, settled_until = now()
    from unnest(v_shares) s join limits l on l.id = s.limit_id
    join limit_counts o on o.limit_id = s.limit_id and o.value = s.value and o.period_start = s.period_start
    cross join lateral limit_ended(l, o.value, o.period_start, o.resets_at, o.settled_until, now()) e
    where c.limit_id = o.limit_id and c.value = o.value and c.period_start = o.period_start
      and o.settled_until < now();
    update limits set settled_until = now() where id in (select s.limit_id from unnest(v_shares) s);
  end $$`;

export const DROP_LIMITS = `
  drop function if exists
    settle_limits, count_limits, admit_links, limit_shares, limit_usage, limit_ended, limit_made, limit_period, local_midnight`;

/** @param plan settings of each function that an app calls; those that it calls inherit them */
export const limitFunctions = (plan: string): string =>
  [RECOUNT, PERIOD, COUNT(plan), SHARES, ADMIT, SETTLE(plan)].join(';\n');
