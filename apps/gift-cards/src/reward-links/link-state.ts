/**
 * SQL over a row `l` of reward_links: no state is stored (docs/adr/0011-gift-card-reservation.md).
 *
 * @param clock `clock_timestamp()` where the row was waited for, else `now()`
 */
export const linkState = (clock: 'clock_timestamp()' | 'now()'): string => `case
      when l.revealed_at is not null then 'REVEALED'
      when l.released or l.expires_at <= ${clock} then 'EXPIRED'
      else 'RESERVED'
    end`;

/** Unix seconds. The end of a cancelled link has a fraction, which must not round up into the future. */
export const EXPIRES_AT = `floor(extract(epoch from l.expires_at))::bigint`;
