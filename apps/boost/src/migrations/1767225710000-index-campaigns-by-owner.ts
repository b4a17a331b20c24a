import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the index for listing an account's own campaigns by id. */
export class IndexCampaignsByOwner1767225710000 implements MigrationInterface {
  readonly name = 'IndexCampaignsByOwner1767225710000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index campaigns_owner on campaigns (owner, id collate "C")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index campaigns_owner');
  }
}
