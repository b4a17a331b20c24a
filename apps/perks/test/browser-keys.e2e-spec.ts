import { aKey, http } from '@perkway/testing';
import { aGroup, PerksFixture } from './perks-fixture.js';

const SITE = 'https://app.acme.example';

describe('perk reads by web pages', () => {
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

  it('work with a JOURNEY key, from the sites that the account lists', async () => {
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
        'access-control-expose-headers': 'x-request-id, retry-after, etag',
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

  it('are classified like pixel loads, because the key is public', async () => {
    const key = site();
    perks.accounts.add(key);
    await perks.forgetEvents();
    const agents = ['Mozilla/5.0 (compatible; Googlebot/2.1)', 'Mozilla/5.0 Chrome/126.0 Safari/537.36'];
    for (const agent of agents)
      await http(perks.app, key).get(`${paths[0]!}?utm_source=app`).set('user-agent', agent).expect(200);
    await http(perks.app, perks.user).get(paths[0]!).set('user-agent', agents[0]!).expect(200);
    const utm = { utm_source: 'app' };
    const views = (await perks.views()).map((view) => [view.traffic, view.utm]);
    expect(views).toEqual([
      [{ class: 'bot', reason: 'user-agent:googlebot' }, utm],
      [{ class: 'human', reason: 'none' }, utm],
      // A server reads on behalf of people, whatever its user agent.
      [undefined, undefined],
    ]);
  });

  it('let the page read an error about its key', async () => {
    const read = await http(perks.app).get(paths[0]!).set('origin', SITE).expect(401);
    expect(read.headers).toHaveProperty('access-control-allow-origin', SITE);
  });

  it('let the page read that the collection does not exist', async () => {
    const key = site();
    perks.accounts.add(key);
    expect((await preflight('/perk-collections/unknown'))[1]).toHaveProperty(
      'access-control-allow-origin',
      SITE,
    );
    const read = await http(perks.app, key).get('/perk-collections/unknown').set('origin', SITE).expect(404);
    expect(read.headers).toMatchObject({
      'access-control-allow-origin': SITE,
      'access-control-expose-headers': 'x-request-id, retry-after, etag',
    });
  });

  it('are not allowed with a server key, and a header says so', async () => {
    for (const key of [perks.user, perks.admin])
      for (const path of paths) {
        const { headers } = await http(perks.app, key).get(path).set('origin', SITE);
        expect(cors(headers)).toEqual({});
        expect(headers['perkway-detail']).toMatch(/does not belong in a browser/);
        const plain = await http(perks.app, key).get(path);
        expect(plain.headers).not.toHaveProperty('perkway-detail');
      }
  });

  it('reveal nothing to unlisted sites and other accounts', async () => {
    const key = site();
    perks.accounts.add(key);
    for (const origin of ['https://evil.example', 'null', `${SITE}.evil.example`]) {
      expect(await preflight(paths[0]!, origin)).toEqual([204, {}]);
      const { headers } = await http(perks.app, key).get(paths[0]!).set('origin', origin).expect(200);
      expect(cors(headers)).toEqual({});
    }
    expect(await preflight('/perk-collections/unknown', 'https://evil.example')).toEqual([204, {}]);
    expect((await preflight(elsewhere))[1]).toEqual({});
    expect((await preflight('/admin/perks/a'))[1]).toEqual({});
    // Another account, with its own key, from the same origin.
    const stranger = aKey(perks.stranger.account, 'JOURNEY');
    perks.accounts.add(stranger);
    await http(perks.app, stranger).get(paths[0]!).set('origin', SITE).expect(404);
  });

  it('keep the sites that are known while the owner of the accounts is unavailable, and allow no others', async () => {
    const key = site();
    perks.accounts.add(key);
    await http(perks.app, key).get(paths[0]!).set('origin', SITE).expect(200);
    await perks.accounts.close();
    const known = await http(perks.app, key).get(paths[0]!).set('origin', SITE).expect(200);
    expect(known.headers).toHaveProperty('access-control-allow-origin', SITE);
    expect(await preflight('/perk-collections/unknown', 'https://unseen.example')).toEqual([204, {}]);
  });
});
