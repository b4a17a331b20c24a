/**
 * The advisory locks of apps and tools that have numbers, as arguments of `pg_advisory_lock` and similar functions. All
 * apps may share one database, so the numbers must be distinct. A number never changes, because old and new replicas
 * must mean the same lock. (Locks of hashes alone, such as those of `lockRow`, are not listed. Local provisioning has
 * its own lock in another database.)
 */
export const ADVISORY_LOCKS = {
  /** One migration job at a time per database. */
  migrations: '7271001',
  /** One replica at a time creates partitions of the event store. */
  eventPartitions: '7271002',
  /**
   * Writers of events hold it shared until they commit. The rollup refresher holds it exclusively while it moves
   * `closing_to`, so every writer whose events the refresher cannot see yet will see the new value.
   */
  ingest: '7271003',
  /** One process at a time refreshes rollups. */
  rollups: '7271004',
  /** One process at a time creates, sorts and drops months of the event store. */
  months: '7271005',
  /** One replica creates the first ADMIN key. */
  adminKeyBootstrap: '7271006',
  /** One replica at a time deletes old events of the feed. */
  feedRetention: '7271007',
  /** Held by every change of categories, perks and collections. */
  catalog: '7271, 1',
  /** One allocation at a time of a perk's codes to an account with a quota; combined with the hash of both. */
  couponQuota: '727106',
  /** Shared by changes of gift-card counts; exclusive while expired links are settled into them. */
  giftCardCounting: '727105, 1',
  /** One settlement of expired links at a time. */
  giftCardSettling: '727105, 2',
  /** One step of a withdrawal of cards at a time. */
  giftCardWithdrawing: '727105, 3',
  /** One settlement of an account's limits at a time; combined with the hash of the account. */
  giftCardLimits: '727107',
  /** Sixteen locks from 100 on: the slots in which gift cards are counted, chosen by connection. */
  giftCardSlot: '727105, 100 + pg_backend_pid() % 16',
} as const;
