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

  it('are not installed again while their text is the same', async () => {
    expect(await migrate(database.url)).toEqual([]);
    expect(await records()).toHaveLength(1);
  });

  it.each(['ViewsAndFunctions1767225620000', 'ViewsAndFunctions0123456789abcdef-9999999999999'])(
    'take the place of older ones (%s), whatever their arguments were',
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
