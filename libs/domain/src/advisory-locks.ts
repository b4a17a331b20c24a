/**
 * Every advisory lock that apps and tools take, as the arguments of `pg_advisory_lock` and its like. All apps may share
 * one database, so no two may be the same. A number stays for good: old and new replicas must mean the same lock. (Local
 * provisioning has one of its own in another database; gift-cards also locks the hashes of its idempotency keys.)
 */
export const ADVISORY_LOCKS = {
  /** One migration job at a time in a database. */
  migrations: '7271001',
  /** Partitions of the event store are made by one replica at a time. */
  eventPartitions: '7271002',
  /**
   * Whoever writes events holds it shared until the commit; the refresher of the rollups holds it alone while it moves
   * `closing_to`, so that every writer whose events are not yet to be seen by it will see the new value.
   */
  ingest: '7271003',
  /** Rollups are refreshed by one process at a time. */
  rollups: '7271004',
  /** Months of the event store are made, sorted and dropped by one process at a time. */
  months: '7271005',
  /** The first ADMIN key is made by one replica. */
  adminKeyBootstrap: '7271006',
  /** Every change of categories, perks and collections. */
  catalog: '7271, 1',
  /** Shared by what changes the numbers of gift cards; alone while expired links are settled into them. */
  giftCardCounting: '727105, 1',
  /** One settling of expired links at a time. */
  giftCardSettling: '727105, 2',
  /** Sixteen, from 100 on: those of the slots in which gift cards are counted, chosen by connection. */
  giftCardSlot: '727105, 100 + pg_backend_pid() % 16',
} as const;
