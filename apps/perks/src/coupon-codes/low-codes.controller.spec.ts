import type { DataSource } from 'typeorm';
import { LowCodesController } from './low-codes.controller.js';

it('runs one query for requests at the same time', async () => {
  const query = jest.fn().mockResolvedValue([]);
  const controller = new LowCodesController({ query } as unknown as DataSource);
  expect(await Promise.all([controller.list(), controller.list()])).toEqual([{ stocks: [] }, { stocks: [] }]);
  expect(query).toHaveBeenCalledTimes(1);
});
