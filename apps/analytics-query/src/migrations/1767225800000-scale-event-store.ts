import type { MigrationInterface, QueryRunner } from 'typeorm';

const READER = 'analytics_reader';
/** New tables whose rows belong to an account. */
const OF_ACCOUNTS = ['event_hours', 'perk_days', 'campaign_days', 'dirty_hours', 'reader_probe'];

/**
 * Adds rollups, and a column for index-only scans of raw rows. An older release can still write afterwards, because the
 * new column is generated.
 */
export class ScaleEventStore1767225800000 implements MigrationInterface {
  readonly name = 'ScaleEventStore1767225800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Number of perks that a view showed, so that an index can hold it. Rewrites the table once.
      alter table tracking_events add column perk_count integer generated always as (cardinality(perk_ids)) stored;

      drop index tracking_events_by_type;
      create index tracking_events_by_type on tracking_events (account_id, type, occurred_at)
        include (campaign_id, perk_id, traffic_class, perk_count);

      -- Finds an hour of all accounts in rows stored in order of arrival, at almost no cost.
      create index tracking_events_by_time on tracking_events using brin (occurred_at) with (autosummarize = on);

      -- Rollups of closed hours and days (UTC), always equal to the raw rows; see ADR 14.
      create table event_hours (
        account_id text not null,
        type text not null,
        hour timestamptz(0) not null,
        events bigint not null,
        people bigint not null,
        perks bigint not null,
        value numeric,
        primary key (account_id, type, hour)
      );
      create table perk_days (
        account_id text not null,
        type text not null,
        day timestamptz(0) not null,
        perk_id text not null,
        events bigint not null,
        people bigint not null,
        primary key (account_id, type, day, perk_id)
      );
      create table campaign_days (
        account_id text not null,
        type text not null,
        day timestamptz(0) not null,
        campaign_id text not null,
        events bigint not null,
        people bigint not null,
        value numeric,
        primary key (account_id, type, day, campaign_id)
      );

      -- Hours before closed_to have rollup rows. Events of hours before closing_to mark the hour dirty, because its
      -- rollup rows exist or are being computed.
      create table rollup_state (
        only_row boolean primary key default true check (only_row),
        closing_to timestamptz(0) not null,
        closed_to timestamptz(0) not null check (closed_to <= closing_to)
      );
      insert into rollup_state (closing_to, closed_to) values ('2020-01-01Z', '2020-01-01Z');

      -- Hours whose rollup rows may be stale. Rows are never updated, so deleting the marks that were read keeps later ones.
      create table dirty_hours (
        account_id text not null,
        hour timestamptz(0) not null,
        mark uuid not null default gen_random_uuid(),
        primary key (account_id, hour, mark)
      );

      -- Months whose rows were sorted by account, type and time.
      create table sorted_months (
        month date primary key,
        sorted_at timestamptz not null default now()
      );

      -- Names used with an API key are listed before names that anyone can put into a link.
      alter table attribute_names add column keyed boolean not null default false;

      -- A row that the reader sees only if the account setting of its transaction takes effect on the rows.
      create table reader_probe (account_id text primary key);
      insert into reader_probe values ('reader-probe');
    `);
    await runner.query(`grant select on ${[...OF_ACCOUNTS, 'rollup_state'].join(', ')} to ${READER}`);
    for (const table of OF_ACCOUNTS) {
      await runner.query(`alter table ${table} enable row level security`);
      await runner.query(`
        create policy account on ${table} for select to ${READER}
          using (account_id = current_setting('perkway.account_id', true))`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table ${OF_ACCOUNTS.join(', ')}, rollup_state, sorted_months;
      alter table attribute_names drop column keyed;
      drop index tracking_events_by_time;
      drop index tracking_events_by_type;
      alter table tracking_events drop column perk_count;
      create index tracking_events_by_type on tracking_events (account_id, type, occurred_at)
        include (campaign_id, perk_id, traffic_class);
    `);
  }
}
