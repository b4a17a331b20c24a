import type { CampaignNamedEvent } from '@perkway/domain';
import { trackedEvents, untilRelayed } from '@perkway/testing';
import { BoostWorld } from './boost-world.js';

describe('campaigns', () => {
  const world = new BoostWorld();
  beforeAll(() => world.start({ ownPostgres: true }));
  afterAll(() => world.stop());

  const campaign = { owner: 'acme', name: 'Spring', incentives: ['coffee', 'tea'] };
  beforeEach(() => {
    world.offers.set('coffee', 'https://shop.example/coffee');
    world.offers.set('tea', 'https://shop.example/tea');
  });

  it('PUT creates a campaign, and replaces it when sent again', async () => {
    for (let i = 0; i < 2; i += 1) {
      const { status, body } = await world.put('spring', campaign);
      expect([status, body]).toMatchObject([200, { id: 'spring', ...campaign }]);
    }
    const changed = { ...campaign, name: 'Late spring', incentives: ['tea'] };
    expect((await world.put('spring', changed)).status).toBe(200);
    // The change takes effect at once in this process.
    const gone = await world.send('/outreach/campaign/spring/reward-url?perkId=coffee', {
      key: world.acme.key,
    });
    expect([gone.status, gone.body.code]).toEqual([400, 'PERK_IS_NOT_IN_CAMPAIGN']);
    await untilRelayed(world.database);
    const names = (await trackedEvents(world.nats.url)).filter(
      (event): event is CampaignNamedEvent => event.type === 'campaign_named',
    );
    // An unchanged PUT writes no event.
    expect(names).toHaveLength(2);
    expect(names.at(-1)).toMatchObject({ account: 'acme', campaign: 'spring', name: 'Late spring' });
  });

  it('an unknown owner or perk is named in the error', async () => {
    const owner = await world.put('a', { ...campaign, owner: 'nobody' });
    expect([owner.status, owner.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(owner.body.errors).toEqual([
      { field: 'owner', message: 'must be an existing account; unknown: nobody' },
    ]);
    const perk = await world.put('a', { ...campaign, incentives: ['coffee', 'gone', 'toString'] });
    expect(perk.status).toBe(400);
    expect(perk.body.detail).toMatch(/^incentives .*: gone, toString$/);
  });

  it.each([
    [{ ...campaign, owner: undefined }, 'owner'],
    [{ ...campaign, owner: 'a b' }, 'owner'],
    [{ ...campaign, name: '' }, 'name'],
    [{ ...campaign, name: 7 }, 'name'],
    [{ ...campaign, name: 'a\0b' }, 'name'],
    [{ ...campaign, name: 'x'.repeat(301) }, 'name'],
    [{ ...campaign, incentives: 'coffee' }, 'incentives'],
    [{ ...campaign, incentives: [7] }, 'incentives'],
    [{ ...campaign, incentives: ['coffee', 'coffee'] }, 'incentives'],
    [{ ...campaign, incentives: undefined }, 'incentives'],
  ])('%j is rejected because of its %s', async (body, field) => {
    const response = await world.put('bad', body);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
    expect(await world.database.query("select 1 from campaigns where id = 'bad'")).toEqual([]);
  });

  it('an invalid campaign id, invalid JSON and a missing body are rejected', async () => {
    expect((await world.put('a%20b', campaign)).status).toBe(400);
    const path = '/admin/campaigns/a';
    const headers = { 'content-type': 'application/json' };
    expect((await world.send(path, { method: 'put', headers, key: world.admin.key })).status).toBe(400);
    const text = { 'content-type': 'text/plain' };
    expect(
      (await world.send(path, { method: 'put', json: campaign, headers: text, key: world.admin.key })).status,
    ).toBe(415);
  });

  it('without an ADMIN key: 401 without a key and 403 for USER, before the body is validated', async () => {
    const sent = { method: 'put' as const, json: { owner: 1 } };
    expect((await world.send('/admin/campaigns/a', sent)).status).toBe(401);
    expect((await world.send('/admin/campaigns/a', { ...sent, key: world.acme.key })).status).toBe(403);
    expect((await world.send(`/admin/campaigns/a?api_key=${world.admin.key}`, sent)).status).toBe(401);
  });

  it('nothing is stored while the catalogue or the database is unavailable: 503', async () => {
    await world.catalogue.close();
    const perks = await world.put('away', campaign);
    expect([perks.status, perks.headers['retry-after']]).toEqual([503, '2']);
    await world.startCatalogue();
    await world.postgres.kill();
    try {
      const database = await world.put('away', campaign);
      expect([database.status, database.headers['retry-after']]).toEqual([503, '2']);
    } finally {
      await world.postgres.start();
    }
    expect((await world.put('away', campaign)).status).toBe(200);
  });
});
