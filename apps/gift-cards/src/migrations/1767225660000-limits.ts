import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds limits and their counters (docs/adr/0041-limits.md), and the key that created a link. */
export class Limits1767225660000 implements MigrationInterface {
  readonly name = 'Limits1767225660000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table limits (
        id text primary key,
        owner text not null,
        links bigint,
        amount numeric,
        currency text,
        period text not null check (period in ('day', 'week', 'month', 'year', 'total')),
        timezone text not null,
        per text not null check (per in
          ('account', 'pool_id', 'campaign_id', 'journey_id', 'created_by', 'reference', 'key_id')),
        only_pool uuid,
        only_campaign text,
        -- Latest settled_until of its counters. Links that can be revealed expire later, unless the clock was set back.
        settled_until timestamptz not null default to_timestamp(0),
        created_at timestamptz not null,
        updated_at timestamptz not null,
        check ((amount is null) = (currency is null)),
        check (links is not null or amount is not null)
      );
      create index limits_owner on limits (owner);

      -- One row per limit, value and period, made when the first link asks for it. It can always be counted again from the
      -- links. No foreign key: its check would lock the row that all reservations of an account read.
      create table limit_counts (
        limit_id text not null,
        value text not null,
        period_start timestamptz not null,
        -- Null for a period without an end.
        resets_at timestamptz,
        -- Links made in the period, without the unrevealed ones that ended until "settled_until".
        links bigint not null,
        amount numeric not null,
        settled_until timestamptz not null,
        -- When a link was refused, or took the last of the limit.
        reached_at timestamptz,
        primary key (limit_id, value, period_start)
      ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
      create index limit_counts_resets_at on limit_counts (resets_at);

      -- A limit that a request counts for. "number" is the request's number, "counter" that of the limit's counter.
      create type limit_share as (
        number bigint, counter bigint, limit_id text, value text, period_start timestamptz, resets_at timestamptz,
        max_links bigint, max_amount numeric, amount numeric
      );

      alter type reservation_request add attribute key_id text;
      alter table reward_links add column key_id text;
      create index reward_links_ended on reward_links (account, expires_at) where revealed_at is null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index reward_links_ended;
      alter table reward_links drop column key_id;
      alter type reservation_request drop attribute key_id;
      drop type limit_share;
      drop table limit_counts, limits`);
  }
}
