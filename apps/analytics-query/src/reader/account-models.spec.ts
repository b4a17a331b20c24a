import type { AnalyticsQueryEnv } from '../env.js';
import { AccountModels, attributesIn } from './account-models.js';
import type { Patience, Reader } from './reader.js';

describe('what is remembered of the attributes of queries', () => {
  const patience: Patience = { deadline: Infinity, signal: new AbortController().signal };
  /** An account whose names were used up, so that every name that a query thinks up is one. */
  const aModel = () => {
    let asked = 0;
    const rows = () => ((asked += 1), Promise.resolve([[null, '2000']]));
    const models = new AccountModels({ rows } as unknown as Reader, {} as AnalyticsQueryEnv);
    return { models, asked: () => asked };
  };
  const names = (count: number, of = '') =>
    Array.from({ length: count }, (_, index) => `name_${of}_${index}`);

  it('is what dashboards ask for again and again', async () => {
    const { models, asked } = aModel();
    for (let time = 0; time < 3; time += 1) await models.supposed('acme', names(50), patience);
    expect(asked()).toBe(1);
  });

  it('is nothing of a query that names thousands, of which an attacker can make any number', async () => {
    const { models, asked } = aModel();
    for (let time = 0; time < 3; time += 1) await models.supposed('acme', names(10_000), patience);
    expect(asked()).toBe(3);
  });

  it('is so many characters at most, however many queries there are', async () => {
    const { models, asked } = aModel();
    for (let query = 0; query < 200; query += 1)
      await models.supposed('acme', names(2_000, `${query}`), patience);
    await models.supposed('acme', names(2_000, '199'), patience);
    expect(asked()).toBe(200);
    await models.supposed('acme', names(2_000, '0'), patience);
    expect(asked()).toBe(201);
  });

  it('knows an attribute by what follows the prefix', () => {
    const query = { dimensions: ['perk_clicks.cmeta___proto__'], timeDimensions: [], filters: [] };
    expect(attributesIn([query as never])).toEqual(['__proto__']);
  });
});
