import { ADVISORY_LOCKS } from '@perkway/domain';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds validity, batches and withdrawals of cards, and replacements of links. */
export class LifeOfACard1767225670000 implements MigrationInterface {
  readonly name = 'LifeOfACard1767225670000';

  async up(runner: QueryRunner): Promise<void> {
    // Everything that changes cards or links takes this lock before any row.
    await runner.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.giftCardCounting})`);
    await runner.query(`
      -- Cards of one entry that are valid until the same day share a row, so all of them lapse at once without a write.
      alter table inventories
        add column valid_until date,
        drop constraint inventories_pool_id_denomination_currency_country_key,
        add constraint inventories_entry
          unique nulls not distinct (pool_id, denomination, currency, country, valid_until);
      create index inventories_dated on inventories (pool_id) where valid_until is not null;

      -- Null for cards that earlier releases loaded.
      alter table cards
        add column load_id uuid,
        add column batch text;

      -- Counted like the others, in slot 32.
      alter table inventory_counts add column withdrawn bigint not null default 0;

      create table withdrawals (
        -- A hash of account and idempotency key.
        id uuid primary key,
        pool_id uuid not null references pools,
        account text not null,
        body_digest text not null,
        reason text not null,
        -- Which cards: one of the next four is not null.
        batch text,
        load_id uuid,
        code_hashes uuid[],
        valid_until_before date,
        reserved text not null check (reserved in ('keep', 'cancel')),
        state text not null default 'running' check (state in ('running', 'done')),
        created_at timestamptz not null default now(),
        finished_at timestamptz,
        -- The last row looked at: among the free cards of "at_inventory" until "free_done", then among all cards by id.
        free_done boolean not null default false,
        at_inventory integer not null default 0,
        at_pick integer not null default -2147483648,
        at_card bigint not null default -1,
        withdrawn bigint not null default 0,
        cancelled bigint not null default 0,
        redeemed bigint not null default 0,
        -- The first 1,000.
        redeemed_links uuid[] not null default '{}'
      );
      create index withdrawals_pool on withdrawals (pool_id);
      create index withdrawals_running on withdrawals (created_at) where state = 'running';

      create table withdrawn_cards (
        card_id bigint primary key,
        inventory_id integer not null,
        withdrawal_id uuid not null,
        -- When its link ended, if the withdrawal kept the link.
        withdrawn_at timestamptz not null default now()
      );

      alter table reward_links
        -- The withdrawal that takes the card once this link ends unrevealed.
        add column recalled_by uuid,
        add column replaces uuid,
        add column replacement_reason text;
      create index reward_links_recalled on reward_links (inventory_id, expires_at)
        where recalled_by is not null and revealed_at is null and not released;
      create index reward_links_recalled_by on reward_links (recalled_by) where recalled_by is not null;
      create unique index reward_links_replaces on reward_links (replaces) where replaces is not null;
      alter type reservation_request
        add attribute replaces uuid,
        add attribute replacement_reason text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter type reservation_request drop attribute replaces, drop attribute replacement_reason;
      alter table reward_links drop column recalled_by, drop column replaces, drop column replacement_reason;
      drop table withdrawn_cards, withdrawals;
      alter table inventory_counts drop column withdrawn;
      alter table cards drop column load_id, drop column batch;
      alter table inventories drop constraint inventories_entry;
      -- Fails if an entry has cards of several dates, which the earlier release cannot tell apart.
      alter table inventories
        drop column valid_until,
        add unique (pool_id, denomination, currency, country)`);
  }
}
