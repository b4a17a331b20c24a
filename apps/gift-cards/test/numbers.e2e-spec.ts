import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '@perkway/audit';
import { Loops } from '@perkway/platform';
import { waitFor } from '@perkway/testing';
import type { Pool } from '../src/pools/pool.dto.js';
import { ExpiredLinks } from '../src/reward-links/expired-links.js';
import { aBody, EUR_25, GiftCards, inSeconds, type Link } from './support.js';

const total = (entry: Pool['inventories'][number]) => entry.available + entry.reserved + entry.redeemed;

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Relation Name'?: string;
  Plans?: Plan[];
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

describe('the inventory numbers', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
    // The tests settle links explicitly.
    await gift.app.app.get(Loops).beforeApplicationShutdown();
  });
  afterAll(() => gift?.close());

  const expectAudit = async (passes = true) => {
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain(passes ? 'Every card is in exactly one place' : 'The audit FAILED');
    expect(report.passed).toBe(passes);
    return report.output;
  };
  const job = () => gift.app.app.get(ExpiredLinks, { strict: false });
  /** Sets the expiry of all links to the same instant. */
  const expireAll = (pool: string) =>
    gift.database.query(
      `update reward_links set expires_at = now()
       where inventory_id in (select id from inventories where pool_id = $1)`,
      [pool],
    );

  it('add up at every moment under load, and match a recount at the end', async () => {
    const pool = await gift.aPool(400);
    const replica = await gift.launch();
    const links: Link[] = [];
    let isOver = false;
    const soon = () => aBody({ expires_at: inSeconds(1 + Math.round(Math.random() * 2)) });
    const generating = async (url: string) => {
      while (!isOver) {
        const response = await gift.generate(pool, { url, body: soon() });
        if (response.status === 201) links.push(response.body);
        else await sleep(20);
      }
    };
    const revealing = async () => {
      while (!isOver) {
        const link = links.splice(Math.floor(Math.random() * links.length), 1)[0];
        if (link && Math.random() < 0.3) await gift.reveal(link.token);
        await sleep(3);
      }
    };
    const settling = async () => {
      while (!isOver) {
        await job()
          .settle(7)
          .catch(() => 0);
        await sleep(15);
      }
    };
    const loading = async () => {
      await waitFor(() => seen.length > 10, 'numbers before the load');
      await gift.addCards(pool, 100);
    };
    const seen: number[] = [];
    const reading = async () => {
      let last = { loaded: 400, redeemed: 0 };
      while (!isOver) {
        const [entry] = await gift.numbers(pool);
        seen.push(total(entry!));
        expect([last.loaded, 500]).toContain(total(entry!));
        expect(Math.min(entry!.available, entry!.reserved, entry!.redeemed)).toBeGreaterThanOrEqual(0);
        expect(entry!.redeemed).toBeGreaterThanOrEqual(last.redeemed);
        last = { loaded: total(entry!), redeemed: entry!.redeemed };
      }
    };
    const working = [
      ...[gift.app.url, replica.url, gift.app.url, replica.url].map(generating),
      revealing(),
      settling(),
      loading(),
      reading(),
      reading(),
    ];
    const releasedLinks = async () => {
      const [row] = await gift.database.query<{ released: string }>(
        'select count(*) as released from reward_links where released',
      );
      return Number(row!.released);
    };
    // The test is valid only if cards were reused, and if numbers were read before and after the load.
    await waitFor(
      async () => {
        expect(await releasedLinks()).toBeGreaterThan(50);
        expect(new Set(seen).size).toBe(2);
      },
      'more than 50 reused cards',
      120_000,
    ).finally(() => (isOver = true));
    await Promise.all(working);
    await replica.close();
    expect(seen.length).toBeGreaterThan(50);
    expect(new Set(seen)).toEqual(new Set([400, 500]));
    await expectAudit();
    await waitFor(
      async () => expect(await gift.numbers(pool)).toMatchObject([{ reserved: 0 }]),
      'the expiry of all links',
    );
    await job().settle(10_000);
    await expectAudit();
  }, 240_000);

  it('do not change when expired links are settled, and links keep working', async () => {
    const pool = await gift.aPool(30);
    const early = await Promise.all(Array.from({ length: 20 }, () => gift.aLink(pool)));
    await gift.reveal(early[0]!.token);
    await expireAll(pool);
    const late = await gift.aLink(pool);
    const numbers = [{ ...EUR_25, available: 28, reserved: 1, redeemed: 1 }];
    expect(await gift.numbers(pool)).toMatchObject(numbers);
    // Settle in batches, although all links expire at the same instant.
    const batches = [];
    for (let moved = await job().settle(8); moved > 0; moved = await job().settle(8)) batches.push(moved);
    expect(batches).toEqual([8, 8, 3]);
    expect(await gift.numbers(pool)).toMatchObject(numbers);
    expect((await gift.open(early[1]!.token)).link?.state).toBe('EXPIRED');
    expect((await gift.reveal(late.token)).link?.state).toBe('REVEALED');
    // The 9 cards that were never reserved go first, then 3 of settled links, which must lower the count of those.
    await Promise.all(Array.from({ length: 12 }, () => gift.aLink(pool)));
    expect(await gift.numbers(pool)).toMatchObject([{ ...EUR_25, available: 16, reserved: 12, redeemed: 2 }]);
    await expectAudit();
  });

  it('settle links in batches across entries, not per entry', async () => {
    const pool = await gift.aPool(4);
    await gift.addCards(pool, 4, { ...EUR_25, country: 'AT' });
    await Promise.all(Array.from({ length: 8 }, () => gift.aLink(pool)));
    await expireAll(pool);
    const batches = [];
    for (let moved = await job().settle(5); moved > 0; moved = await job().settle(5)) batches.push(moved);
    expect(batches).toEqual([5, 3]);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 4 }, { available: 4 }]);
  });

  it('stay right when the background job settles links', async () => {
    const replica = await gift.launch();
    const pool = await gift.aPool(250);
    await Promise.all(Array.from({ length: 250 }, () => gift.aLink(pool)));
    await expireAll(pool);
    const settledOf = async () => {
      const [row] = await gift.database.query<{ n: string }>(
        `select coalesce(sum(c.settled), 0) as n from inventory_counts c join inventories i on i.id = c.inventory_id
         where i.pool_id = $1`,
        [pool],
      );
      return Number(row!.n);
    };
    await waitFor(async () => (await settledOf()) >= 250, 'the settling of 250 links', 25_000);
    expect(await settledOf()).toBe(250);
    await replica.close();
    expect(await gift.numbers(pool)).toMatchObject([{ available: 250, reserved: 0 }]);
  });

  it('are right even if the clock was set back to before the time until which links are settled', async () => {
    const pool = await gift.aPool(3);
    await gift.database.query(
      `update inventories set settled_until = now() + interval '2 days' where pool_id = $1`,
      [pool],
    );
    const links = await Promise.all([1, 2, 3].map(() => gift.aLink(pool)));
    expect(await gift.numbers(pool)).toMatchObject([{ available: 0, reserved: 3, redeemed: 0 }]);
    await gift.reveal(links[0]!.token);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 0, reserved: 2, redeemed: 1 }]);
    await gift.expire(links[1]!.token);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 1, reserved: 1, redeemed: 1 }]);
    await expectAudit();
    await gift.aLink(pool);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 0, reserved: 2, redeemed: 1 }]);
    await expectAudit();
  });

  it('are audited, and the audit finds every kind of damage', async () => {
    const pool = await gift.aPool(6);
    const [one, two] = [await gift.aLink(pool), await gift.aLink(pool)];
    await gift.reveal(one.token);
    expect(two).toBeDefined();
    const inventory = `(select id from inventories where pool_id = '${pool}')`;
    const before = (await audit({ databaseUrl: gift.database.urls.admin })).output;
    const damages: [string, string, string][] = [
      [
        'WRONG',
        `update inventory_counts set holding = holding + 1 where inventory_id = ${inventory} and loaded > 0`,
        `update inventory_counts set holding = holding - 1 where inventory_id = ${inventory} and loaded > 0`,
      ],
      [
        'a card that is neither free nor on a link',
        `create table kept as select * from free_cards where inventory_id = ${inventory} limit 1;
         delete from free_cards where card_id in (select card_id from kept)`,
        `insert into free_cards select * from kept; drop table kept`,
      ],
      [
        'a card that is free and on a live link',
        `insert into free_cards select inventory_id, 0, card_id from reward_links where inventory_id = ${inventory} and revealed_at is null`,
        `delete from free_cards where card_id in (select card_id from reward_links)`,
      ],
      [
        'a revealed link without its card',
        `create table kept as select c.* from cards c join reward_links l on l.card_id = c.id where l.inventory_id = ${inventory} and revealed_at is not null;
         delete from cards where id in (select id from kept)`,
        `insert into cards select * from kept; drop table kept`,
      ],
      [
        'a card on two live links',
        `drop index reward_links_card; insert into reward_links select gen_random_uuid(), inventory_id, card_id, account, gen_random_uuid(),
           body_digest, token_key, created_by, expires_at, created_at, null, false from reward_links where inventory_id = ${inventory} limit 1`,
        `delete from reward_links l where l.ctid <> (select min(ctid) from reward_links m where m.card_id = l.card_id and not m.released) and inventory_id = ${inventory};
         create unique index reward_links_card on reward_links (card_id) where not released`,
      ],
      [
        'a cancelled link that was revealed',
        `alter table reward_links drop constraint reward_links_cancelled;
         update reward_links set cancelled_at = expires_at where inventory_id = ${inventory} and revealed_at is not null`,
        `update reward_links set cancelled_at = null where inventory_id = ${inventory}`,
      ],
      [
        'a cancelled link whose expiry is not its cancellation',
        `update reward_links set cancelled_at = now() where inventory_id = ${inventory} and revealed_at is null`,
        `update reward_links set cancelled_at = null where inventory_id = ${inventory}`,
      ],
      [
        'a card, link or count of an entry that does not exist',
        `insert into inventory_counts (inventory_id, slot) values (-1, 0)`,
        `delete from inventory_counts where inventory_id = -1`,
      ],
      [
        'a wrong count of expired links',
        `update inventories set settled_until = now() + interval '9 days' where pool_id = '${pool}'`,
        `update inventories set settled_until = '-infinity' where pool_id = '${pool}'`,
      ],
    ];
    expect(before).not.toContain(`${pool}  25 EUR FR       6 WRONG`);
    for (const [finding, damage, repair] of damages) {
      await gift.database.query(damage);
      expect(await expectAudit(false)).toContain(finding);
      await gift.database.query(repair);
    }
  });

  it('are read, like free cards, with indexes', async () => {
    await gift.aPool(3_000);
    // Enough links to make a full scan expensive.
    await gift.database.query(`
      insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at)
      select gen_random_uuid(), -1 - n % 10, -n, 'a', gen_random_uuid(), 'x', 'k1', 'c', now() + n * interval '1 minute'
      from generate_series(1, 20000) n`);
    await gift.database.query('analyze');
    await gift.database.query(`
      create or replace function plan_of(p_sql text) returns json language plpgsql
      set plan_cache_mode = force_generic_plan as $$
      declare v json; begin execute 'explain (generic_plan, format json) ' || p_sql into v; return v; end $$`);
    const plan = async (sql: string) => {
      const [row] = await gift.database.query<{ plan: [{ Plan: Plan }] }>('select plan_of($1) as plan', [
        sql,
      ]);
      return nodesOf(row!.plan[0].Plan);
    };
    for (const [direction, condition] of [
      ['pick >= $2', '((inventory_id = $1) AND (pick >= $2))'],
      ['pick < $2', '((inventory_id = $1) AND (pick < $2))'],
    ]) {
      const nodes = await plan(
        `select ctid from free_cards where inventory_id = $1 and ${direction} order by pick limit $3 for update skip locked`,
      );
      expect(nodes.map((node) => node['Node Type'])).toEqual([
        'Limit',
        'LockRows',
        expect.stringMatching(/^Index (Only )?Scan$/),
      ]);
      expect(nodes[2]).toMatchObject({ 'Index Name': 'free_cards_pkey', 'Index Cond': condition });
    }
    const expired = await plan(
      `select id from reward_links where inventory_id = $1 and revealed_at is null and not released and expires_at <= now()
       order by expires_at, id limit $2 for update skip locked`,
    );
    expect(expired.at(-1)).toMatchObject({ 'Index Name': 'reward_links_unrevealed' });
    expect(expired.map((node) => node['Node Type'])).not.toContain('Sort');
    const read = await plan(`select * from inventory_numbers where pool_id = $1`);
    expect(read.filter((node) => node['Index Name'] === 'reward_links_unrevealed')).toHaveLength(2);
    const wholeTables = read
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name']);
    for (const large of ['reward_links', 'cards', 'free_cards']) expect(wholeTables).not.toContain(large);
  });

  it('are read, like free cards, without full scans even if Postgres planned for empty tables', async () => {
    const fresh = await GiftCards.start();
    try {
      // Autovacuum leaves a new database in this state: statistics say that the tables are empty.
      await fresh.database.query('vacuum analyze');
      const pool = await fresh.aPool(2_000);
      const use = async (count: number) => {
        for (const { token } of await Promise.all(Array.from({ length: count }, () => fresh.aLink(pool)))) {
          await fresh.reveal(token);
          await fresh.open(token);
        }
      };
      await use(10);
      await fresh.database.query(`
        insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at)
        select gen_random_uuid(), -1, -n, 'a', gen_random_uuid(), 'x', 'k1', 'c', now() + n * interval '1 minute'
        from generate_series(1, 20000) n`);
      const rowsRead = async () => {
        // Postgres reports a session's statistics with a delay of up to a second.
        await sleep(1_300);
        const [row] = await fresh.database.query<{ n: string }>(
          `select sum(seq_tup_read) as n from pg_stat_user_tables where relname in ('reward_links', 'free_cards', 'cards')`,
        );
        return Number(row!.n);
      };
      await use(5);
      const before = await rowsRead();
      await use(100);
      expect((await rowsRead()) - before).toBeLessThan(2_000);
      // A lookup by id in any index but the primary key reads all entries. On empty tables both cost the same.
      const indexes = await fresh.database.query<{ name: string }>(
        `select indexrelname as name from pg_stat_user_indexes
         where relname = 'reward_links' and schemaname = current_schema and idx_scan > 0`,
      );
      expect(indexes.map(({ name }) => name)).not.toContain('reward_links_created_by');
    } finally {
      await fresh.close();
    }
  });
});
