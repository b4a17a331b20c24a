import { ADVISORY_LOCKS } from '@perkway/domain';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the client's own fields to links, cancellation, and the indexes for listing links. */
export class RewardLinkLife1767225640000 implements MigrationInterface {
  readonly name = 'RewardLinkLife1767225640000';

  async up(runner: QueryRunner): Promise<void> {
    // Taken exclusively, because everything that changes links takes it before any row: nothing changes a link until
    // this commits.
    await runner.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.giftCardCounting})`);
    await runner.query(`
      alter table reward_links
        add column campaign_id text,
        add column journey_id text,
        add column reference text,
        -- {"utm": {name: value}, "cmeta": {name: value}}, each left out when empty
        add column attributes jsonb,
        -- Cancelling moves the expiry to now.
        add column cancelled_at timestamptz,
        add constraint reward_links_cancelled check (cancelled_at is null or (cancelled_at = expires_at and revealed_at is null));

      alter type reservation_request
        add attribute campaign_id text,
        add attribute journey_id text,
        add attribute reference text,
        add attribute attributes jsonb;

      create index reward_links_newest on reward_links (account, created_at, id);
      create index reward_links_created_by on reward_links (account, created_by, created_at, id);
      create index reward_links_revealed on reward_links (account, created_at, id) where revealed_at is not null;
      create index reward_links_campaign on reward_links (account, campaign_id, created_at, id) where campaign_id is not null;
      create index reward_links_journey on reward_links (account, journey_id, created_at, id) where journey_id is not null;
      create index reward_links_reference on reward_links (account, reference, created_at, id) where reference is not null`);
    // From now on the expired event of a link is written when settling passes it or its card goes to another link.
    // Links for which either happened before get their event here.
    await runner.query(`
      insert into tracking_outbox (event)
      select jsonb_build_object(
        'v', 1, 'id', l.id || ':expired', 'account', l.account, 'at', floor(extract(epoch from l.expires_at) * 1000)::bigint,
        'type', 'reward_link', 'state', 'expired', 'pool', i.pool_id, 'denomination', i.denomination,
        'currency', i.currency, 'createdBy', l.created_by
      )
      from reward_links l join inventories i on i.id = l.inventory_id
      where l.revealed_at is null and (l.released or (l.expires_at, l.id) <= (i.settled_until, i.settled_link))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter type reservation_request
        drop attribute campaign_id, drop attribute journey_id, drop attribute reference, drop attribute attributes;
      drop index reward_links_newest, reward_links_created_by;
      alter table reward_links
        drop column campaign_id, drop column journey_id, drop column reference, drop column attributes,
        drop column cancelled_at`);
  }
}
