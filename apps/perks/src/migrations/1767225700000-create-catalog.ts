import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateCatalog1767225700000 implements MigrationInterface {
  readonly name = 'CreateCatalog1767225700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table categories (
        id integer primary key,
        slug text not null unique,
        name text not null,
        translations jsonb not null default '{}'
      );

      create table perks (
        id text primary key,
        title text not null,
        description text not null,
        callout text not null,
        redemption_note text not null,
        details text not null,
        offer_url text not null,
        offer_slug text not null,
        coupon text,
        is_coupon_perk boolean not null default false,
        metadata text not null default '',
        partner jsonb not null,
        media jsonb not null,
        locations jsonb not null default '[]',
        translations jsonb not null default '{}',
        -- The three types of perk are told apart by these two fields alone.
        check (coupon is null or not is_coupon_perk)
      );

      create table perk_categories (
        perk_id text not null references perks on delete cascade,
        category_id integer not null references categories,
        primary key (perk_id, category_id)
      );
      create index on perk_categories (category_id);

      create table collections (
        id text primary key,
        owner text not null,
        -- Changes with everything that a read of the collection shows; caches compare it.
        revision uuid not null default gen_random_uuid()
      );
      create index on collections (owner, id);

      -- "position" keeps the order in which groups and perks of equal rank were given.
      create table perk_groups (
        collection_id text not null references collections on delete cascade,
        id uuid not null,
        name text not null,
        rank integer not null,
        position integer not null,
        translations jsonb not null default '{}',
        primary key (collection_id, id)
      );

      create table group_perks (
        collection_id text not null,
        group_id uuid not null,
        perk_id text not null references perks,
        rank integer not null,
        position integer not null,
        primary key (collection_id, group_id, perk_id),
        foreign key (collection_id, group_id) references perk_groups on delete cascade
      );
      create index on group_perks (perk_id, collection_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'drop table group_perks, perk_groups, collections, perk_categories, perks, categories',
    );
  }
}
