import { modelFor } from '../model/model.js';
import { compile } from './compile.js';
import { compileAll } from './compile-all.js';
import { normalize } from './normalize.js';

const names = Array.from({ length: 500 }, (_, index) => `attribute_${index}`);
const model = modelFor(names.map((name) => ({ name })));
const normalized = (query: unknown) => normalize(query, Date.UTC(2026, 2, 18)).queries[0]!;
const small = normalized({ measures: ['perk_clicks.count'] });
const large = normalized({ dimensions: names.map((name) => `perk_clicks.cmeta_${name}`) });
const compiled = (count: number, query: typeof small) =>
  compileAll(Array<typeof small>(count).fill(query), model, 'acme', {});

describe('the queries of one request', () => {
  afterEach(() => jest.restoreAllMocks());

  it('may take one second to compile', async () => {
    let now = 0;
    // Each reading of the clock adds 20 ms, so each query costs 20 ms; the time between slices is not counted.
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 20));
    await expect(compiled(50, small)).resolves.toHaveLength(50);
    await expect(compiled(51, small)).rejects.toThrow('take too long to compile');
  });

  it('may have four million characters of SQL', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const most = Math.floor(4_000_000 / compile(large, model, 'acme', {}).text.length);
    await expect(compiled(most, large)).resolves.toHaveLength(most);
    await expect(compiled(most + 1, large)).rejects.toThrow('would be too long');
  });
});
