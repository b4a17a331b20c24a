import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Pools, cards and reward links. docs/adr/0011-gift-card-reservation.md explains how they fit together.
 *
 * There are no foreign keys to `inventories` and `cards`, because each check would lock the referenced row, and
 * all reservations of an inventory share one row. Only the SQL functions and the loader write these rows, and
 * `npm run audit` verifies the references.
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
    -- The settled position: expired links with (expires_at, id) up to here are in inventory_counts.settled, later ones are
    -- counted on each read.
    settled_until timestamptz not null default '-infinity',
    settled_link uuid not null default '00000000-0000-0000-0000-000000000000',
    unique (pool_id, denomination, currency, country)
  );

  -- The numbers of an inventory are sums over its slots. A transaction updates the slot of its own connection, so that
  -- concurrent reservations do not wait for each other's commit. Slots 0 to 15 are for links, 16 to 31 for loads.
  create table inventory_counts (
    inventory_id integer not null,
    slot smallint not null,
    loaded bigint not null default 0,
    -- Unrevealed links that have a card, expired or not.
    holding bigint not null default 0,
    redeemed bigint not null default 0,
    -- Those of "holding" that have expired, up to the settled position of the inventory.
    settled bigint not null default 0,
    primary key (inventory_id, slot)
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

  create sequence card_blocks;

  -- Never updated; the tables below hold the state of a card.
  create table cards (
    id bigint primary key,
    inventory_id integer not null,
    -- The first 128 bits of a keyed hash of the code: one card per code, in all pools and accounts.
    code_hash uuid not null unique,
    -- Code and PIN, encrypted and bound to the id.
    sealed bytea not null
  );

  -- Cards without a link. A load inserts rows and a reservation deletes them. A reservation starts at a random pick, so that
  -- concurrent ones find different rows and do not scan over deleted ones.
  create table free_cards (
    inventory_id integer not null,
    pick integer not null,
    card_id bigint not null,
    primary key (inventory_id, pick, card_id)
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

  create table reward_links (
    -- A hash of account and idempotency key, so that the primary key detects repeated requests.
    id uuid primary key,
    inventory_id integer not null,
    card_id bigint not null,
    account text not null,
    idempotency_key uuid not null,
    body_digest bytea not null,
    -- Id of the key that signed the token. The token itself is not stored.
    token_key text not null,
    created_by text not null,
    expires_at timestamptz not null,
    created_at timestamptz not null default now(),
    revealed_at timestamptz,
    -- The link has expired and its card has gone to another link.
    released boolean not null default false,
    check (not (released and revealed_at is not null))
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
  -- Guarantees that a card is never on two live links.
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
    -- The first 1,000 each: [{"row", "reason"}].
    duplicate_rows jsonb not null default '[]',
    rejected_rows jsonb not null default '[]'
  );
  create index card_loads_pool on card_loads (pool_id, started_at desc);

  -- An argument of reserve_links.
  create type reservation_request as (
    link uuid,
    account text,
    pool uuid,
    denomination numeric,
    currency text,
    country text,
    -- Unix seconds
    expires_at bigint,
    created_by text,
    idempotency_key uuid,
    -- hex
    body_digest text,
    token_key text,
    -- JSON for the outbox, from earlier releases only
    event text
  )`;

export class CreateGiftCards1767225610000 implements MigrationInterface {
  readonly name = 'CreateGiftCards1767225610000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop type reservation_request;
      drop table card_loads, reward_links, free_cards, cards, inventory_counts, inventories, pools;
      drop sequence card_blocks`);
  }
}
