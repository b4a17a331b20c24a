import { aKey, http } from '@perkway/testing';
import { aGroup, PerksFixture } from './perks-fixture.js';

const SITE = 'https://app.acme.example';

describe('perks read by the pages of a web site', () => {
  let perks: PerksFixture;
  let paths: string[];
  let elsewhere: string;
  const site = () => aKey(perks.account, 'JOURNEY');
  beforeAll(async () => {
    perks = await PerksFixture.start();
    perks.accounts.setAccount(perks.account, { allowedOrigins: [SITE] });
    const perk = await perks.putPerk();
    const collection = `/perk-collections/${await perks.putCollection([aGroup('All', 1, [perk, 1])])}`;
    paths = [collection, `${collection}/perk/${perk}`, `${collection}/categories`];
    elsewhere = `${collection}/perk/${perk}/coupon`;
  });
  afterAll(() => perks?.close());

  const cors = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control')));
  const preflight = async (path: string, origin = SITE) => {
    const { status, headers } = await http(perks.app)
      .options(path)
      .set({ origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-api-key' });
    return [status, cors(headers)];
  };

  it('works with a key of role JOURNEY, from the sites that the account lists', async () => {
    const key = site();
    perks.accounts.add(key);
    for (const path of paths) {
      expect(await preflight(path)).toEqual([
        204,
        {
          'access-control-allow-origin': SITE,
          'access-control-allow-methods': 'GET, HEAD',
          'access-control-allow-headers': 'if-none-match, x-api-key, x-disable-view-tracking',
          'access-control-max-age': '600',
        },
      ]);
      const read = await http(perks.app, key).get(path).set('origin', SITE).expect(200);
      expect(cors(read.headers)).toEqual({
        'access-control-allow-origin': SITE,
        'access-control-expose-headers': 'etag',
      });
      expect(read.headers).toMatchObject({ vary: 'Origin, Accept-Language' });
      expect(read.headers).not.toHaveProperty('perkway-detail');
      const inQuery = await http(perks.app).get(`${path}?api_key=${key.key}`).set('origin', SITE).expect(200);
      expect(inQuery.headers).toHaveProperty('access-control-allow-origin', SITE);
      await http(perks.app, { ...key })
        .get(path)
        .set({ origin: SITE, 'if-none-match': read.headers.etag! })
        .expect(304);
    }
    expect((await http(perks.app, key).get('/perk-collections').expect(200)).body).toHaveLength(1);
    await http(perks.app, key).post(elsewhere).send({ customer_id: 'c-1' }).expect(403);
  });

  it('a page reads why it was refused', async () => {
    const read = await http(perks.app).get(paths[0]!).set('origin', SITE).expect(401);
    expect(read.headers).toHaveProperty('access-control-allow-origin', SITE);
  });

  it('is never offered to a key of a server, which is told so', async () => {
    for (const key of [perks.user, perks.admin])
      for (const path of paths) {
        const { headers } = await http(perks.app, key).get(path).set('origin', SITE);
        expect(cors(headers)).toEqual({});
        expect(headers['perkway-detail']).toMatch(/does not belong in a browser/);
        const plain = await http(perks.app, key).get(path);
        expect(plain.headers).not.toHaveProperty('perkway-detail');
      }
  });

  it('nobody else learns anything', async () => {
    const key = site();
    perks.accounts.add(key);
    for (const origin of ['https://evil.example', 'null', `${SITE}.evil.example`]) {
      expect(await preflight(paths[0]!, origin)).toEqual([204, {}]);
      const { headers } = await http(perks.app, key).get(paths[0]!).set('origin', origin).expect(200);
      expect(cors(headers)).toEqual({});
    }
    expect(await preflight('/perk-collections/unknown')).toEqual([204, {}]);
    expect((await preflight(elsewhere))[1]).toEqual({});
    expect((await preflight('/admin/perks/a'))[1]).toEqual({});
    // Another account's site, with a key of its own.
    const stranger = aKey(perks.stranger.account, 'JOURNEY');
    perks.accounts.add(stranger);
    await http(perks.app, stranger).get(paths[0]!).set('origin', SITE).expect(404);
  });
});
