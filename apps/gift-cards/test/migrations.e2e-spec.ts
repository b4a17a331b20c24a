import { testDatabase, type TestDatabase } from '@perkway/testing';
import { migrate } from './support.js';

describe('the view and the functions', () => {
  let database: TestDatabase;
  const query = (sql: string) => database.query(sql);
  const records = async () =>
    (await query(`select name from migrations where name like 'ViewsAndFunctions%'`)).map(({ name }) => name);

  beforeAll(async () => {
    database = await testDatabase('gift-cards', migrate);
  });
  afterAll(() => database.close());

  it('are not reinstalled while their SQL is unchanged', async () => {
    expect(await migrate(database.url)).toEqual([]);
    expect(await records()).toHaveLength(1);
  });

  it.each(['ViewsAndFunctions1767225620000', 'ViewsAndFunctions0123456789abcdef-9999999999999'])(
    'replace older ones (%s), whatever their arguments were',
    async (older) => {
      const [current] = await records();
      await query(`
        drop function reveal_link;
        create function reveal_link(uuid, text) returns boolean language sql as 'select false';
        drop view inventory_numbers;
        create view inventory_numbers as select id from inventories;
        update migrations set name = '${older}' where name = '${String(current)}'`);

      expect(await migrate(database.url)).toEqual([current]);

      expect(await records()).toEqual([current]);
      await query(`select available from inventory_numbers where id = 1`);
      await query('select reveal_link(gen_random_uuid())');
      await expect(query(`select reveal_link(gen_random_uuid(), '{}')`)).rejects.toThrow('does not exist');
    },
  );
});

it('lets a card be on one live link at most', async () => {
  const database = await testDatabase('gift-cards', migrate);
  try {
    const insert = (card: number, released = false) =>
      database.query(
        `insert into reward_links
           (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at, released)
         values (gen_random_uuid(), 1, $1, 'acme', gen_random_uuid(), '', 'k1', 'ann', now(), $2)`,
        [card, released],
      );
    await insert(1, true);
    await insert(1);
    await insert(2);
    await expect(insert(1)).rejects.toMatchObject({ code: '23505' });
    await insert(1, true);
  } finally {
    await database.close();
  }
});
