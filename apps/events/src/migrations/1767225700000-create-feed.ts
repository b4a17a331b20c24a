import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateFeed1767225700000 implements MigrationInterface {
  readonly name = 'CreateFeed1767225700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table feeds (
        account_id text primary key,
        -- Of the newest event. A transaction that stores events of the account locks this row first.
        last_position bigint not null default 0,
        -- Of the newest event, so that a clock that steps back cannot put stored_at out of order.
        stored_at timestamptz not null default clock_timestamp()
      )`);
    await runner.query(`
      create table events (
        account_id text not null,
        -- From 1 on, without gaps.
        position bigint not null,
        id text not null,
        type text not null,
        occurred_at timestamptz not null,
        -- In the order of the positions.
        stored_at timestamptz not null,
        subject text not null,
        data jsonb not null,
        erased boolean not null default false,
        primary key (account_id, position),
        unique (account_id, id)
      )`);
    await runner.query('create index events_stored_at on events (account_id, stored_at)');
    await runner.query('create index events_by_age on events (stored_at)');
    await runner.query(`
      create table conversion_keys (
        account_id text not null,
        -- Keyed hash of an external id, which counts once, also after its event was deleted.
        key text not null,
        primary key (account_id, key)
      )`);
    await runner.query(`
      create table erased_journeys (
        account_id text not null,
        -- Keyed, so that the table tells nobody who was erased.
        hash text not null,
        stand_in text not null,
        primary key (account_id, hash)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table erased_journeys');
    await runner.query('drop table conversion_keys');
    await runner.query('drop table events');
    await runner.query('drop table feeds');
  }
}
