import type { DataSource } from 'typeorm';
import { StockController } from './stock.controller.js';

it('runs one query for equal requests at the same time, and another one afterwards', async () => {
  const running: ((rows: unknown[]) => void)[] = [];
  const query = jest.fn(() => new Promise<unknown[]>((resolve) => running.push(resolve)));
  const controller = new StockController({ query } as unknown as DataSource);

  const [one, two, other] = [
    controller.list({ account: 'acme' }),
    controller.list({ account: 'acme' }),
    controller.list({ account: 'globex' }),
  ];
  expect(query).toHaveBeenCalledTimes(2);
  running[0]!([{ pool: 'a' }]);
  running[1]!([]);
  expect(await one).toEqual({ stocks: [{ pool: 'a' }] });
  expect(await two).toEqual({ stocks: [{ pool: 'a' }] });
  expect(await other).toEqual({ stocks: [] });

  void controller.list({ account: 'acme' });
  expect(query).toHaveBeenCalledTimes(3);
});
