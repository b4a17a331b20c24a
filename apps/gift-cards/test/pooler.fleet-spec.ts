import { BundledApp, pgbouncer, runNode, testPooler, waitFor } from '@perkway/testing';
import { GiftCards } from './support.js';

const LINKS = 60;

/**
 * Uses Debian's PgBouncer, which does not support prepared statements. CI installs it; elsewhere the test is skipped.
 */
(pgbouncer ? describe : describe.skip)('behind a transaction-mode pooler', () => {
  it('loads cards, reserves links concurrently, reveals them and writes their events', async () => {
    const gift = await GiftCards.start();
    const pooler = await testPooler(gift.database.url);
    try {
      await gift.restartApp({
        DATABASE_URL: pooler.through(gift.database.url),
        NAMED_STATEMENTS: 'false',
      });
      const pool = await gift.aPool(LINKS);
      const links = await Promise.all(Array.from({ length: LINKS }, () => gift.aLink(pool)));
      await Promise.all(links.slice(0, 20).map(({ token }) => gift.reveal(token)));
      const [{ revealed }] = (await gift.database.query(
        'select count(revealed_at)::int as revealed from reward_links',
      )) as [{ revealed: number }];
      expect(revealed).toBe(20);
      await waitFor(
        async () => expect(await gift.database.query('select from tracking_outbox')).toEqual([]),
        'an empty outbox',
      );
      // PgBouncer rejected no startup parameter and missed no prepared statement.
      expect(pooler.log()).not.toMatch(/ERROR|unsupported|prepared statement/);
    } finally {
      await gift.close();
      await pooler.close();
    }
  });

  it('migrates past the pooler, which rejects the startup parameters of migrations', async () => {
    const gift = await GiftCards.start();
    const pooler = await testPooler(gift.database.url);
    try {
      const job = (await BundledApp.build('gift-cards')).path('migrate');
      const DATABASE_URL = pooler.through(gift.database.url);
      expect(await runNode([job], { env: { DATABASE_URL } })).toEqual({
        exitCode: 1,
        output: expect.stringContaining('unsupported startup parameter'),
      });
      expect(
        await runNode([job], { env: { DATABASE_URL, MIGRATION_DATABASE_URL: gift.database.url } }),
      ).toEqual({ exitCode: 0, output: expect.stringContaining('migrations applied') });
    } finally {
      await gift.close();
      await pooler.close();
    }
  });
});
