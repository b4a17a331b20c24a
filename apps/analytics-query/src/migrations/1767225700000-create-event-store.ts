import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The role of the query side: read-only, sees one account at a time, owns nothing. */
const READER = 'analytics_reader';

/** Tables whose rows belong to an account. */
const OF_ACCOUNTS = ['tracking_events', 'campaign_names', 'attribute_names', 'conversion_ids'];

export class CreateEventStore1767225700000 implements MigrationInterface {
  readonly name = 'CreateEventStore1767225700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- One wide table: columns that an event type lacks are null, which costs one bit.
      create table tracking_events (
        account_id text not null,
        occurred_at timestamptz(3) not null,
        id text not null,
        type text not null,
        perk_id text,
        perk_ids text[],
        collection_id text,
        campaign_id text,
        journey_id text,
        channel text,
        traffic_class text,
        traffic_reason text,
        utm_source text,
        utm_medium text,
        utm_campaign text,
        utm_term text,
        utm_content text,
        cmeta jsonb,
        value numeric,
        currency text,
        external_id text,
        state text,
        pool_id text,
        denomination numeric,
        created_by text,
        primary key (account_id, occurred_at, id)
      ) partition by range (occurred_at);

      -- Covers the usual queries (counts by time, campaign and perk, people only) without reading the table.
      create index tracking_events_by_type on tracking_events (account_id, type, occurred_at)
        include (campaign_id, perk_id, traffic_class);

      -- Perks, and so their names, are shared by all accounts.
      create table perk_names (
        perk_id text primary key,
        title text not null,
        partner_id text not null,
        updated_at timestamptz(3) not null
      );

      create table campaign_names (
        account_id text not null,
        campaign_id text not null,
        name text not null,
        updated_at timestamptz(3) not null,
        primary key (account_id, campaign_id)
      );

      -- The names of custom attributes that an account has used.
      create table attribute_names (
        account_id text not null,
        name text not null,
        first_seen_at timestamptz not null default now(),
        primary key (account_id, name)
      );

      -- The event that an external id was counted for; later events with the same id do not count.
      create table conversion_ids (
        account_id text not null,
        external_id text not null,
        event_id text not null,
        occurred_at timestamptz(3) not null,
        primary key (account_id, external_id)
      );
    `);
    const { schema } = (await runner.query('select current_schema() as schema'))[0] as { schema: string };
    await runner.query(`grant usage on schema "${schema}" to ${READER}`);
    await runner.query(`grant select on ${[...OF_ACCOUNTS, 'perk_names'].join(', ')} to ${READER}`);
    for (const table of OF_ACCOUNTS) {
      await runner.query(`alter table ${table} enable row level security`);
      // Without the setting the comparison is null, so no row is visible.
      await runner.query(`
        create policy account on ${table} for select to ${READER}
          using (account_id = current_setting('perkway.account_id', true))`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table ${[...OF_ACCOUNTS, 'perk_names'].join(', ')}`);
  }
}
