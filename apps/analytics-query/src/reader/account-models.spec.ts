import type { AnalyticsQueryEnv } from '../env.js';
import { AccountModels, attributesIn } from './account-models.js';
import type { QueryDeadline, Reader } from './reader.js';

describe('the attribute cache', () => {
  const queryDeadline: QueryDeadline = { deadline: Infinity, signal: new AbortController().signal };
  /** For an account whose names are full, so that every name in a query counts as an attribute. */
  const aModel = () => {
    let requested = 0;
    const rows = () => ((requested += 1), Promise.resolve([[null, '2000']]));
    const models = new AccountModels({ rows } as unknown as Reader, {} as AnalyticsQueryEnv);
    return { models, requested: () => requested };
  };
  const names = (count: number, of = '') =>
    Array.from({ length: count }, (_, index) => `name_${of}_${index}`);

  it('serves what dashboards ask for repeatedly', async () => {
    const { models, requested } = aModel();
    for (let time = 0; time < 3; time += 1) await models.cachedOrRead('acme', names(50), queryDeadline);
    expect(requested()).toBe(1);
  });

  it('does not keep queries with thousands of names, of which an attacker can make any number', async () => {
    const { models, requested } = aModel();
    for (let time = 0; time < 3; time += 1) await models.cachedOrRead('acme', names(10_000), queryDeadline);
    expect(requested()).toBe(3);
  });

  it('keeps a limited number of characters, however many queries there are', async () => {
    const { models, requested } = aModel();
    for (let query = 0; query < 200; query += 1)
      await models.cachedOrRead('acme', names(2_000, `${query}`), queryDeadline);
    await models.cachedOrRead('acme', names(2_000, '199'), queryDeadline);
    expect(requested()).toBe(200);
    await models.cachedOrRead('acme', names(2_000, '0'), queryDeadline);
    expect(requested()).toBe(201);
  });

  it('recognizes an attribute by the prefix of its dimension', () => {
    const query = { dimensions: ['perk_clicks.cmeta___proto__'], timeDimensions: [], filters: [] };
    expect(attributesIn([query as never])).toEqual(['__proto__']);
  });
});
