import type { StoredEvent } from '@perkway/domain';
import { LRUCache } from 'lru-cache';
import type { EntityManager } from 'typeorm';

/** Longer names stay in `cmeta` but do not become dimensions, because index entries are limited in size. */
const MAX_ATTRIBUTE_NAME = 200;
const MAX_KNOWN_NAMES = 100_000;
/**
 * Once an account has this many names, only calls with a USER or ADMIN key add more, because anyone can put names into
 * a link or use a JOURNEY key. From then on, names without a row can be queried too (see account-models.ts).
 */
export const MAX_NAMES = 2_000;
const MAX_KEYED_NAMES = 10_000;
/** An account that reached its limit is checked again after this time. */
const FULL_MS = 60_000;
const MAX_FULL_ACCOUNTS = 10_000;

interface AttributeName {
  account: string;
  name: string;
  /** Whether a call with a USER or ADMIN key has used it. */
  keyed: boolean;
}

/**
 * Perk reads, `POST /track` and reward links need a key; pixels and clicks do not. An event with a traffic class is a
 * click, a pixel load or a call with a JOURNEY key, which is public and does not count.
 */
const isKeyed = (event: StoredEvent): boolean =>
  !('traffic' in event && event.traffic) &&
  (event.type === 'perk_view' ||
    event.type === 'conversion' ||
    event.type === 'reward_link' ||
    ((event.type === 'teaser_view' || event.type === 'reward_view') && event.channel === 'journey'));

const keyOf = ({ account, name, keyed }: AttributeName): string => `${account} ${keyed ? '!' : '?'}${name}`;

/** Stores the names of the custom attributes that accounts have used. */
export class AttributeNames {
  /** Names that need not be stored again: they are in the table, or did not fit into the account's limit. */
  private readonly known = new LRUCache<string, true>({ max: MAX_KNOWN_NAMES });
  private readonly full = new LRUCache<string, true>({ max: MAX_FULL_ACCOUNTS, ttl: FULL_MS });

  /**
   * Returns the names in the batch that may not be in the table yet. For each account, names from calls with a USER or
   * ADMIN key come first, so that public requests do not use up the account's limit before them.
   */
  unknownNames(events: StoredEvent[]): AttributeName[] {
    const names = new Map<string, AttributeName>();
    const seen = new Set<string>();
    for (const event of events) {
      if (!('cmeta' in event) || !event.cmeta) continue;
      const keyed = isKeyed(event);
      for (const name in event.cmeta) {
        const entry = { account: event.account, name, keyed };
        const key = keyOf(entry);
        if (seen.has(key)) continue;
        seen.add(key);
        if (name.length > MAX_ATTRIBUTE_NAME || this.known.get(key)) continue;
        if (!keyed && this.full.has(event.account)) continue;
        names.set(key, entry);
      }
    }
    return [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
  }

  /** Call it in the transaction that stores the batch. */
  async keep(manager: EntityManager, names: AttributeName[]): Promise<void> {
    if (names.length === 0) return;
    const accounts = [...new Set(names.map(({ account }) => account))];
    const rows = await manager.query<{ account_id: string; names: number }[]>(
      'select account_id, count(*)::int as names from attribute_names where account_id = any($1) group by 1',
      [accounts],
    );
    const usedBy = new Map(rows.map(({ account_id: account, names: used }) => [account, used]));
    const fitting = names.filter(({ account, keyed }) => {
      const used = usedBy.get(account) ?? 0;
      if (!keyed && used >= MAX_NAMES) this.full.set(account, true);
      if (used >= (keyed ? MAX_KEYED_NAMES : MAX_NAMES)) return false;
      usedBy.set(account, used + 1);
      return true;
    });
    if (fitting.length === 0) return;
    // One statement inserts all names in a fixed order, so that writers with the same new names wait for each other
    // instead of deadlocking.
    await manager.query(
      `insert into attribute_names as stored (account_id, name, keyed)
       select u.account_id, u.name, bool_or(u.keyed)
       from unnest($1::text[], $2::text[], $3::boolean[]) as u (account_id, name, keyed)
       group by 1, 2 order by 1, 2
       on conflict (account_id, name) do update set keyed = true where excluded.keyed and not stored.keyed`,
      [
        fitting.map(({ account }) => account),
        fitting.map(({ name }) => name),
        fitting.map(({ keyed }) => keyed),
      ],
    );
  }

  /** Call it after the commit. */
  remember(names: AttributeName[]): void {
    for (const name of names) this.known.set(keyOf(name), true);
  }
}
