import { modelFor } from '../model/model.js';
import { MetaBodies } from './meta-bodies.js';

describe('MetaBodies', () => {
  const bodies = () => {
    const meta = new MetaBodies();
    let made = 0;
    const get = (account: string, names: string[], isExtended = false) =>
      meta.get(account, isExtended, names, () => {
        made += 1;
        return modelFor(names.map((name) => ({ name })));
      });
    return { get, made: () => made };
  };

  it('builds a body once for all requests, including concurrent ones', async () => {
    const { get, made } = bodies();
    const [first, second] = await Promise.all([get('acme', ['plan']), get('acme', ['plan'])]);
    expect(second).toBe(first);
    expect(await get('acme', ['plan'])).toBe(first);
    expect(made()).toBe(1);
    expect(first.toString()).toContain('perk_clicks.cmeta_plan');
  });

  it('builds a body per account and form, and again when the names change', async () => {
    const { get, made } = bodies();
    await get('acme', ['plan']);
    expect((await get('acme', ['plan', 'tier'])).toString()).toContain('perk_clicks.cmeta_tier');
    expect((await get('other', [])).toString()).not.toContain('cmeta_plan');
    expect((await get('acme', ['plan', 'tier'], true)).toString()).toContain('"sql"');
    expect(made()).toBe(4);
  });

  it('does not cache a failure', async () => {
    const { get } = bodies();
    const meta = new MetaBodies();
    const failing = () => {
      throw new Error('model failed');
    };
    await expect(meta.get('acme', false, [], failing)).rejects.toThrow('model failed');
    expect((await meta.get('acme', false, [], () => modelFor([]))).length).toBeGreaterThan(1_000);
    expect((await get('acme', [])).length).toBeGreaterThan(1_000);
  });
});
