import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { parseKeyring, verifyLink } from '@perkway/signing';
import { http, testSecrets, testUrls } from '@perkway/testing';
import { aGroup, PerksFixture } from './perks-fixture.js';

const keyring = () => parseKeyring(testSecrets().linkSigningKeys);
const CLICK_URL_PREFIX = `${testUrls.links}/c/`;
const targetOf = (clickUrl: string) => {
  expect(clickUrl.startsWith(CLICK_URL_PREFIX)).toBe(true);
  return verifyLink(keyring(), clickUrl.slice(CLICK_URL_PREFIX.length));
};

describe('reading perk collections', () => {
  let perks: PerksFixture;
  beforeAll(async () => {
    perks = await PerksFixture.start();
  });
  afterAll(() => perks?.close());
  beforeEach(() => perks.forgetEvents());

  it('returns a collection with its groups and its flat list in order', async () => {
    await perks.putCategory(7, { slug: 'food', name: 'Food' });
    const [a, b, c] = [
      await perks.putPerk({ categories: [7] }),
      await perks.putPerk(),
      await perks.putPerk(),
    ];
    const id = await perks.putCollection([
      aGroup('Second', 2, [a, 5], [b, 1]),
      { ...aGroup('First', 1, [c, 3], [a, 9]), id: '5A0C7F5E-3D1B-4B55-9A57-0C2F4F0A1B01' },
    ]);

    const { body, headers } = await perks.get(`/perk-collections/${id}`).expect(200);

    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(body)).toEqual(['id', 'owner', 'groups', 'perks']);
    expect(body).toMatchObject({ id, owner: perks.account });
    expect(body.groups.map(({ name, rank }: { name: string; rank: number }) => [name, rank])).toEqual([
      ['First', 1],
      ['Second', 2],
    ]);
    expect(body.groups[0].id).toBe('5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01');
    const placed = (list: { id: string; rank: number }[]) => list.map((perk) => [perk.id, perk.rank]);
    expect(placed(body.groups[0].perks)).toEqual([
      [c, 3],
      [a, 9],
    ]);
    expect(placed(body.groups[1].perks)).toEqual([
      [b, 1],
      [a, 5],
    ]);
    expect(placed(body.perks)).toEqual([
      [b, 1],
      [c, 3],
      [a, 5],
    ]);
    expect(body.perks[2]).toEqual({
      id: a,
      title: 'Two for one',
      description: 'Buy one, get one.',
      callout: '2 for 1',
      redemption_note: 'Applied automatically.',
      details: 'Until the end of the year.',
      click_url: expect.stringMatching(/^https:/),
      offer_slug: 'two-for-one',
      rank: 5,
      metadata: '',
      relations: {
        partner: { id: 'shop', name: 'The Shop' },
        categories: [{ id: 7, name: 'Food', slug: 'food' }],
        media: { banner: null, logo: null },
        locations: [],
      },
    });
  });

  it('creates fresh links on each fetch, the same for a perk in two groups', async () => {
    const perk = await perks.putPerk();
    const id = await perks.putCollection([aGroup('One', 1, [perk, 1]), aGroup('Two', 2, [perk, 1])]);
    const fetch = async () => {
      const { body } = await perks.get(`/perk-collections/${id}`).expect(200);
      return [body.groups[0].perks[0], body.groups[1].perks[0], body.perks[0]].map(
        ({ click_url }: { click_url: string }) => click_url,
      );
    };
    const first = await fetch();
    const second = await fetch();
    expect(new Set(first).size).toBe(1);
    expect(new Set([...first, ...second]).size).toBe(2);
    for (const clickUrl of [...first, ...second])
      expect(targetOf(clickUrl)).toMatchObject({ account: perks.account, collection: id, perk });
  });

  it('returns one perk by its own path, with its lowest rank', async () => {
    const perk = await perks.putPerk();
    const id = await perks.putCollection([aGroup('One', 1, [perk, 4]), aGroup('Two', 2, [perk, 2])]);
    const { body: collection } = await perks.get(`/perk-collections/${id}`).expect(200);
    const { body } = await perks.get(`/perk-collections/${id}/perk/${perk}`).expect(200);
    expect(body).toEqual({ ...collection.perks[0], click_url: expect.any(String) });
    expect(body.rank).toBe(2);
    expect(targetOf(body.click_url)).toMatchObject({ perk });
    expect(body.click_url).not.toBe(collection.perks[0].click_url);
  });

  it('distinguishes the three types of perk by their fields', async () => {
    const automatic = await perks.putPerk();
    const shared = await perks.putPerk({ coupon: 'SAVE10' });
    const single = await perks.putPerk({ is_coupon_perk: true });
    const id = await perks.putCollection([aGroup('All', 1, [automatic, 1], [shared, 2], [single, 3])]);

    const { body } = await perks.get(`/perk-collections/${id}?show_coupon_perks=true`).expect(200);

    expect(body.perks[0]).not.toHaveProperty('coupon');
    expect(body.perks[0]).not.toHaveProperty('is_coupon_perk');
    expect(body.perks[1]).toHaveProperty('coupon', 'SAVE10');
    expect(body.perks[1]).not.toHaveProperty('is_coupon_perk');
    expect(body.perks[2]).not.toHaveProperty('coupon');
    expect(body.perks[2]).toHaveProperty('is_coupon_perk', true);
    expect(body.groups[0].perks.map(({ id }: { id: string }) => id)).toEqual([automatic, shared, single]);
    // Without the parameter they are hidden, except at their own path.
    const { body: standard } = await perks.get(`/perk-collections/${id}`).expect(200);
    expect(standard.perks.map(({ id }: { id: string }) => id)).toEqual([automatic, shared]);
    expect(standard.groups[0].perks.map(({ id }: { id: string }) => id)).toEqual([automatic, shared]);
    await perks.get(`/perk-collections/${id}/perk/${single}`).expect(200);
  });

  it('sends each caller its own response, even to slow readers', async () => {
    const large = (letter: string) =>
      Promise.all(Array.from({ length: 60 }, () => perks.putPerk({ details: letter.repeat(50_000) })));
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (letter) => {
        const ids = await large(letter);
        return perks.putCollection([aGroup(letter, 1, ...ids.map((id): [string, number] => [id, 1]))]);
      }),
    );
    const headers = { 'x-api-key': perks.user.key, 'x-disable-view-tracking': 'true' };
    const read = (id: string) => http(perks.app, headers).get(`/perk-collections/${id}`);
    const check = (id: string, letter: string, text: string) => {
      const body = JSON.parse(text);
      expect(body.id).toBe(id);
      expect(body.perks).toHaveLength(60);
      for (const { details, click_url } of [...body.perks, ...body.groups[0].perks]) {
        expect(details).toBe(letter.repeat(50_000));
        expect(targetOf(click_url)).toMatchObject({ collection: id });
      }
    };
    // Six megabytes do not fit into the socket buffers.
    const open = () => {
      // supertest cannot read slowly.
      const request = get(`${perks.app.url}/perk-collections/${a}`, { headers });
      return once(request, 'response') as Promise<[IncomingMessage]>;
    };
    const [[slow], [gone]] = await Promise.all([open(), open()]);
    slow.pause();
    gone.destroy();
    for (let round = 0; round < 4; round += 1) {
      const responses = await Promise.all([b!, a!, b!].map(async (id) => (await read(id)).text));
      check(b!, 'b', responses[0]!);
      check(a!, 'a', responses[1]!);
      check(b!, 'b', responses[2]!);
    }
    check(a!, 'a', (await slow.toArray()).join(''));
  });

  it('lists the collections of the account, at once after a change', async () => {
    await perks.get('/perk-collections').expect(200);
    const id = await perks.putCollection([], 'zz-listed');
    const { body } = await perks.get('/perk-collections').expect(200);
    expect(body).toContain(id);
    expect(body).toEqual([...body].sort());
    const { body: foreign } = await perks.get('/perk-collections', { key: perks.stranger }).expect(200);
    expect(foreign).toEqual([]);
  });

  it('returns the categories of all perks, sorted by id', async () => {
    await perks.putCategory(22);
    await perks.putCategory(21);
    await perks.putCategory(23);
    const [a, b] = [
      await perks.putPerk({ categories: [22] }),
      await perks.putPerk({ categories: [21, 22], is_coupon_perk: true }),
    ];
    const id = await perks.putCollection([aGroup('All', 1, [a, 1], [b, 2])]);
    const { body } = await perks.get(`/perk-collections/${id}/categories`).expect(200);
    expect(body).toEqual([
      { id: 21, name: 'Category 21', slug: 'category-21' },
      { id: 22, name: 'Category 22', slug: 'category-22' },
    ]);
    expect(await perks.views()).toEqual([]);
  });

  it('returns 404 for resources that do not exist or belong to another account', async () => {
    const [perk, elsewhere] = [await perks.putPerk(), await perks.putPerk()];
    const id = await perks.putCollection([aGroup('All', 1, [perk, 1])]);
    const code = async (path: string, key = perks.user) =>
      (
        await perks
          .get(path, { key })
          .expect(404)
          .expect('content-type', /problem\+json/)
      ).body.code;
    for (const path of ['', '/categories', `/perk/${perk}`]) {
      expect(await code(`/perk-collections/${id}${path}`, perks.stranger)).toBe('COLLECTION_NOT_FOUND');
      expect(await code(`/perk-collections/unknown${path}`)).toBe('COLLECTION_NOT_FOUND');
    }
    expect(await code(`/perk-collections/${id}/perk/${elsewhere}`)).toBe('PERK_NOT_FOUND');
    expect(await perks.views()).toEqual([]);
  });

  it('accepts the key in header or query, in any letter case', async () => {
    const id = await perks.putCollection([]);
    const { key } = perks.user;
    await http(perks.app).get(`/perk-collections/${id}`).expect(401);
    for (const path of ['', `/${id}`, `/${id}/categories`])
      await http(perks.app).get(`/perk-collections${path}?api_key=${key.toUpperCase()}`).expect(200);
    await http(perks.app).get(`/perk-collections?api_key=${key}`).set('X-API-Key', `${key}x`).expect(401);
  });
});
