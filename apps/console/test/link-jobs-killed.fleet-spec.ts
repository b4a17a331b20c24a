import { AppProcess, BundledApp, waitFor } from '@perkway/testing';
import { freePort } from '@perkway/local-servers';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { ADMIN_KEY, Fleet } from './fleet';

/** Fewer than the maximum of 10,000, to save time. */
const LINKS = Number(process.env.LINKS ?? 1_500);
const KILLS = 2;

describe('a job of many links', () => {
  const fleet = new Fleet();
  const spawned: AppProcess[] = [];
  let bundle: BundledApp;
  beforeAll(async () => {
    await fleet.start(['token-issuer', 'gift-cards']);
    bundle = await BundledApp.build('console');
  }, 240_000);
  afterAll(async () => {
    fleet.console = await fleet.launch();
    // Stops the replicas even if a test fails.
    await Promise.all(spawned.map((replica) => replica.kill('SIGKILL')));
    await fleet.close();
  });

  const numberOf = async (sql: string, parameter: string) => {
    const [row] = await fleet.database.query<{ count: number }>(
      `select count(*)::integer as count from ${sql}`,
      [parameter],
    );
    return row!.count;
  };

  it(
    'resumes where a process was killed, creates no link twice, and yields one file',
    async () => {
      const { account, key } = await fleet.anAccount();
      const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
      const poolId = randomUUID();
      await operator.put(`/api/gift/admin/pools/${poolId}`).send({ owner: account }).expect(200);
      const cards = Array.from({ length: LINKS + 10 }, (_, nth) => `${account}-${nth},25,EUR,FR`);
      await operator
        .post(`/api/gift/admin/pools/${poolId}/cards`)
        .set('content-type', 'text/csv')
        .send(['code,denomination,currency,country', ...cards].join('\n'))
        .expect(200);
      // Until the last kill, only the spawned processes work on jobs.
      await fleet.console.close();
      const idempotencyKey = randomUUID();
      const references = Array.from({ length: LINKS }, (_, nth) => `customer-${nth + 1}`);
      const tomorrow = Math.floor(Date.now() / 1000) + 86_400;
      const body = { poolId, denomination: 25, currency: 'EUR', references, expires_at: tomorrow };

      const cookie = async (console: AppProcess) => fleet.page(await fleet.signIn(key, console), console);
      const start = async () => {
        const port = await freePort();
        const environment = fleet.consoleEnvironment();
        const replica = await AppProcess.spawn(bundle.path('main'), environment, port);
        spawned.push(replica);
        return replica.ready();
      };
      let console = await start();
      const { body: made } = await (
        await cookie(console)
      )
        .post('/api/link-jobs')
        .set('idempotency-key', idempotencyKey)
        .send(body)
        .expect(202);
      const linksMade = () => numberOf('gift_cards.reward_links where account = $1', account);
      const linksNoted = () => numberOf('link_job_rows where job_id = $1 and link_id is not null', made.id);
      for (let killed = 0; killed < KILLS; killed += 1) {
        const before = await linksMade();
        const lock = new pg.Client(fleet.database.url);
        await lock.connect();
        try {
          // Until the kill, no link can be recorded.
          await lock.query('begin; lock table link_job_rows in share mode');
          await waitFor(async () => (await linksMade()) > before + 10, 'links that are not recorded yet');
          await console.kill('SIGKILL');
          // Killed within a batch: its links are requested again with the same idempotency keys.
          expect(await linksMade()).toBeGreaterThan(await linksNoted());
          expect(await linksMade()).toBeLessThan(LINKS);
          // Postgres would finish the statement of the killed process.
          await fleet.database.query(
            `select pg_terminate_backend(pid) from pg_locks where relation = 'link_job_rows'::regclass and not granted`,
          );
        } finally {
          await lock.end();
        }
        // Expire the lease of the killed process.
        await fleet.database.query('update link_jobs set leased_until = now() where id = $1', [made.id]);
        console = await start();
      }
      const last = await cookie(console);
      await waitFor(
        async () => (await last.get(`/api/link-jobs/${made.id}`)).body.state === 'done',
        'all the links',
        Math.max(60_000, LINKS * 30),
      );
      expect((await last.get(`/api/link-jobs/${made.id}`)).body).toMatchObject({
        total: LINKS,
        made: LINKS,
        failed: [],
        code: null,
      });
      expect(await linksMade()).toBe(LINKS);

      const again = await last
        .post('/api/link-jobs')
        .set('idempotency-key', idempotencyKey)
        .send(body)
        .expect(202);
      expect(again.body.id).toBe(made.id);
      const file = await last.get(`/api/link-jobs/${made.id}/csv`).expect(200);
      expect(file.headers['content-length']).toBeUndefined();
      const rows = file.text
        .trim()
        .split('\r\n')
        .map((line) => line.split(','));
      expect(rows[0]).toEqual(['reference', 'link', 'expiry', 'state']);
      expect(rows.slice(1).map(([reference]) => reference)).toEqual(references);
      expect(new Set(rows.slice(1).map(([, link]) => link)).size).toBe(LINKS);
      expect(new Set(rows.slice(1).map(([, , expiry]) => expiry))).toEqual(
        new Set([new Date(tomorrow * 1_000).toISOString()]),
      );
      const { body: pool } = await last.get(`/api/gift/pool/${poolId}`).expect(200);
      expect(pool.inventories).toMatchObject([{ available: 10, reserved: LINKS, redeemed: 0 }]);
      expect(await linksMade()).toBe(LINKS);
      await console.kill('SIGTERM');
    },
    Math.max(180_000, LINKS * 60),
  );
});
