/**
 * Returns SQL for the state of a row `l` of reward_links. The state is computed, not stored
 * (docs/adr/0011-gift-card-reservation.md).
 *
 * @param clock `clock_timestamp()` if the query waited for a row lock, else `now()`
 */
export const linkState = (clock: 'clock_timestamp()' | 'now()'): string => `case
      when l.revealed_at is not null then 'REVEALED'
      when l.released or l.expires_at <= ${clock} then 'EXPIRED'
      else 'RESERVED'
    end`;

/**
 * Unix seconds. Rounded down, because the expiry of a cancelled link has a fraction and must not round up into the
 * future.
 */
export const EXPIRES_AT = `floor(extract(epoch from l.expires_at))::bigint`;
