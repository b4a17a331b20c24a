import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateWebhooks1767225800000 implements MigrationInterface {
  readonly name = 'CreateWebhooks1767225800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhooks (
        -- A webhook that is made again under the id of a deleted one is another webhook.
        key bigint generated always as identity primary key,
        account_id text not null,
        id text not null,
        url text not null,
        -- Null: all.
        types text[],
        ordered boolean not null,
        enabled boolean not null,
        description text,
        -- Sealed, as the previous one is.
        secret bytea not null,
        previous_secret bytea,
        previous_secret_until timestamptz,
        -- Newest event of the feed that deliveries were made for.
        position bigint not null,
        -- Events that occurred earlier are delivered by a replay only.
        enabled_at timestamptz not null,
        -- First failed attempt since the last success.
        failing_since timestamptz,
        disabled_at timestamptz,
        disabled_reason text,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        unique (account_id, id)
      )`);
    await runner.query(`
      create table webhook_replays (
        id bigint generated always as identity primary key,
        webhook bigint not null references webhooks on delete cascade,
        -- Newest event that was looked at; done at until_position.
        position bigint not null,
        until_position bigint not null,
        from_time timestamptz not null,
        to_time timestamptz not null
      )`);
    await runner.query('create index webhook_replays_webhook on webhook_replays (webhook)');
    // Without a foreign key: rows of a deleted webhook that are not pending are left to retention.
    await runner.query(`
      create table deliveries (
        id bigint generated always as identity primary key,
        webhook bigint not null,
        event_id text not null,
        -- In the feed; null for a ping.
        position bigint,
        type text not null,
        -- Set where the webhook is ordered. A hash, because a subject can name a person.
        subject_hash bigint,
        state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
        attempts smallint not null default 0,
        last_status smallint,
        last_error text,
        -- While an attempt is made: the end of its lease.
        next_attempt_at timestamptz not null,
        delivered_at timestamptz,
        created_at timestamptz not null,
        unique (webhook, event_id)
      )`);
    await runner.query(
      `create index deliveries_due on deliveries (webhook, next_attempt_at, id) where state = 'pending'`,
    );
    await runner.query(
      `create index deliveries_subject on deliveries (webhook, subject_hash, position)
       where state = 'pending' and subject_hash is not null`,
    );
    await runner.query('create index deliveries_list on deliveries (webhook, id)');
    await runner.query(
      `create index deliveries_undelivered on deliveries (webhook, id) where state <> 'delivered'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['deliveries', 'webhook_replays', 'webhooks'])
      await runner.query(`drop table ${table}`);
  }
}
