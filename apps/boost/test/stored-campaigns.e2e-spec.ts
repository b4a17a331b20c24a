import { http, behavesLikeAResource } from '@perkway/testing';
import { BoostWorld } from './boost-world.js';

describe('campaigns in the management API', () => {
  const world = new BoostWorld();
  let count = 0;
  beforeAll(async () => {
    await world.start();
    for (const perk of ['coffee', 'tea']) world.offers.set(perk, `https://shop.example/${perk}`);
  });
  afterAll(() => world.stop());

  const admin = () => http(world.boost, world.admin);
  const campaign = { owner: 'acme', name: 'Spring', incentives: ['coffee', 'tea'] };
  const newId = () => `stored-${(count += 1)}`;

  behavesLikeAResource(() => ({
    app: world.boost,
    admin: world.admin,
    user: world.acme,
    path: '/admin/campaigns',
    notFound: 'CAMPAIGN_NOT_FOUND',
    newId,
    body: (number) => ({ ...campaign, name: `Campaign ${number}` }),
    unknownMembers: { title: (body) => ({ ...body, title: 'x' }) },
  }));

  it('are found by a part of their id or name, and by their owner', async () => {
    await admin()
      .put('/admin/campaigns/Easter-mine')
      .send({ ...campaign, name: 'Eggs & More' });
    await admin()
      .put('/admin/campaigns/easter-theirs')
      .send({ ...campaign, owner: 'other', name: 'Rabbits' });
    const find = async (query: string) => {
      const { body } = await admin().get(`/admin/campaigns?${query}`).expect(200);
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect(await find('q=EASTER')).toEqual(['Easter-mine', 'easter-theirs']);
    expect(await find('q=eggs%20%26')).toEqual(['Easter-mine']);
    expect(await find('q=easter&owner=other')).toEqual(['easter-theirs']);
    expect(await find('owner=nobody')).toEqual([]);
  });

  it('are found by a perk that they contain', async () => {
    world.offers.set('rare', 'https://shop.example/rare');
    const id = newId();
    await admin()
      .put(`/admin/campaigns/${id}`)
      .send({ ...campaign, incentives: ['tea', 'rare'] })
      .expect(200);
    const find = (query: string) => admin().get(`/admin/campaigns?${query}`);
    const { body } = await find('perk_id=rare').expect(200);
    expect(body.data.map((found: { id: string }) => found.id)).toEqual([id]);
    expect((await find('perk_id=rare&owner=other').expect(200)).body.data).toEqual([]);
    expect((await find('perk_id=a%20b').expect(400)).body.errors[0].field).toBe('perk_id');
  });

  it('keep a deleted perk, and can be put back as they were read', async () => {
    world.offers.set('gone', 'https://shop.example/gone');
    const id = newId();
    const path = `/admin/campaigns/${id}`;
    await admin()
      .put(path)
      .send({ ...campaign, incentives: ['gone', 'tea'] })
      .expect(200);
    world.offers.delete('gone');
    const read = await admin().get(path).expect(200);
    const again = await admin()
      .put(path)
      .send({ ...read.body, name: 'Renamed' })
      .expect(200);
    expect(again.body.incentives).toEqual(['gone', 'tea']);
    const added = { ...campaign, incentives: ['gone', 'never-was'] };
    const { body } = await admin().put(path).send(added).expect(400);
    expect(body.detail).toMatch(/: never-was$/);
  });

  it('disappear as soon as they are deleted', async () => {
    const id = newId();
    await admin().put(`/admin/campaigns/${id}`).send(campaign).expect(200);
    const own = http(world.boost, world.acme);
    await own.get(`/campaigns/${id}`).expect(200);
    await own.get(`/outreach/campaign/${id}/reward-url?perkId=tea`).expect(200);
    await admin().delete(`/admin/campaigns/${id}`).expect(204);
    for (const path of [`/campaigns/${id}`, `/outreach/campaign/${id}/reward-url?perkId=tea`])
      expect((await own.get(path).expect(404)).body.code).toBe('CAMPAIGN_NOT_FOUND');
  });
});
