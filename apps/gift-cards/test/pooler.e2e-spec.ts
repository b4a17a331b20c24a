import { pgbouncer, testPooler, waitFor } from '@perkway/testing';
import { GiftCards } from './support.js';

const LINKS = 60;

/** Debian's pgbouncer, which knows no prepared statements; where it is not installed CI installs it. */
(pgbouncer ? describe : describe.skip)('behind a pooler in transaction mode', () => {
  it('cards are loaded, links made at once, revealed and told', async () => {
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
        'the end of the outbox',
      );
      // Nobody was refused a parameter, and no statement was missed.
      expect(pooler.log()).not.toMatch(/ERROR|unsupported|prepared statement/);
    } finally {
      await gift.close();
      await pooler.close();
    }
  });
});
