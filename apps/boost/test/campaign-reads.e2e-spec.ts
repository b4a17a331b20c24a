import { isTrackingDisabled } from '@perkway/domain';
import { http, type Caller } from '@perkway/testing';
import { BoostWorld } from './boost-world.js';

describe("reads of the account's own campaigns", () => {
  const world = new BoostWorld();
  beforeAll(async () => {
    await world.start();
    await world.campaign('spring', ['tea', 'coffee']);
    await world.campaign('theirs', ['tea'], 'other');
  });
  afterAll(() => world.stop());

  const get = (path: string, caller: Caller = world.acme) => http(world.boost, caller).get(path);
  const refusal = async (path: string, caller?: Caller) => {
    const { status, body } = await get(path, caller);
    return [status, (body as { code: string }).code];
  };

  it('return a campaign as it was put, with the key in header or query', async () => {
    const { body } = await get('/campaigns/spring').expect(200).expect('cache-control', 'no-store');
    expect(body).toEqual({
      id: 'spring',
      name: 'Name of spring',
      incentives: ['tea', 'coffee'],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    await http(world.boost).get(`/campaigns/spring?api_key=${world.acme.key}`).expect(200, body);
    await world.campaign('spring', ['coffee']);
    const changed = (await get('/campaigns/spring')).body;
    expect(changed).toMatchObject({ incentives: ['coffee'], created_at: body.created_at });
    expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(body.updated_at));
  });

  it('list every campaign once, by id, in pages, while others are created and deleted', async () => {
    const ids = ['B-2', 'a-1', 'a_1', 'b.1', 'spring', 'z'];
    for (const id of ids) await world.campaign(id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const path: string = `/campaigns?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`;
      const { body } = await get(path).expect(200).expect('cache-control', 'no-store');
      seen.push(...(body as { data: { id: string }[] }).data.map(({ id }) => id));
      cursor = (body as { next_cursor: string | null }).next_cursor;
      // Changes before and after the cursor position.
      await world.campaign(`A-${seen.length}`);
      await world.database.query('delete from campaigns where id = $1', [seen.at(-1)]);
      if (seen.length === 2) await world.campaign('n');
    } while (cursor !== null);
    expect(seen).toEqual(['B-2', 'a-1', 'a_1', 'b.1', 'n', 'spring', 'z']);
    await world.campaign('spring');
    const [listed] = (await get('/campaigns?limit=200')).body.data.slice(-1);
    expect(listed).toEqual((await get('/campaigns/spring')).body);
  });

  it('list every campaign once, in pages of any size', async () => {
    const ids = ['B-2', 'a-1', 'a_1', 'b.1', 'z'];
    for (const id of ids) await world.campaign(id);
    const { data: all } = (await get('/campaigns?limit=200').expect(200)).body as { data: { id: string }[] };
    for (const limit of [1, 2, 3]) {
      const seen: { id: string }[] = [];
      let cursor = '';
      do {
        const { body } = await get(`/campaigns?limit=${limit}${cursor}`).expect(200);
        seen.push(...body.data);
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
        // Ends the loop if each page repeats the end of the one before.
        expect(seen.length).toBeLessThanOrEqual(all.length);
      } while (cursor);
      expect(seen).toEqual(all);
    }
  });

  it("reject another account's cursor, an invalid limit and a forged cursor", async () => {
    for (const id of ['one', 'two']) await world.campaign(id);
    const { next_cursor } = (await get('/campaigns?limit=1')).body as { next_cursor: string };
    expect(next_cursor).toEqual(expect.any(String));
    expect(await refusal(`/campaigns?cursor=${next_cursor}`, world.other)).toEqual([
      400,
      'VALIDATION_FAILED',
    ]);
    expect(await refusal('/campaigns?cursor=x')).toEqual([400, 'VALIDATION_FAILED']);
    expect(await refusal('/campaigns?limit=0')).toEqual([400, 'VALIDATION_FAILED']);
    expect(await refusal('/campaigns', {})).toEqual([401, 'API_KEY_INVALID']);
    const theirs = (await get('/campaigns', world.other).expect(200)).body;
    expect(theirs).toMatchObject({ data: [{ id: 'theirs' }], next_cursor: null });
  });

  it.each(['/campaigns/', '/outreach/campaign/'])(
    '%s returns campaigns of the own account only',
    async (path) => {
      const suffix = path === '/campaigns/' ? '' : '/pixel-urls';
      expect(await refusal(`${path}theirs${suffix}`)).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
      expect(await refusal(`${path}unknown${suffix}`)).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
      expect(await refusal(`${path}a%20b${suffix}`)).toEqual([400, 'VALIDATION_FAILED']);
      expect(await refusal(`${path}spring${suffix}`, {})).toEqual([401, 'API_KEY_INVALID']);
      // An ADMIN key reads only its own account's campaigns here, like any other key.
      expect(await refusal(`${path}spring${suffix}`, world.admin)).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
    },
  );

  describe('pixel-urls', () => {
    const PIXELS = 'https://boost.perkway.test/outreach/campaign/spring/tracking-pixel';
    const urls = async (query = '') =>
      (await get(`/outreach/campaign/spring/pixel-urls${query}`).expect(200)).body as Record<
        'teaser' | 'reward',
        string
      >;

    it('returns the URLs of both pixels', async () => {
      expect(await urls()).toEqual({ teaser: `${PIXELS}/teaser`, reward: `${PIXELS}/reward` });
      await http(world.boost)
        .get(`/outreach/campaign/spring/pixel-urls?api_key=${world.acme.key}`)
        .expect(200)
        .expect('cache-control', 'no-store');
    });

    it('carries journey, attributes and disableTracking as given, and nothing else', async () => {
      const { teaser, reward } = await urls(
        '?journeyId=r%261&cmeta_a=%C3%BC%26b&cmeta_a=2%203&utm_source=mail&other=x&cmeta_long=' +
          'x'.repeat(255),
      );
      for (const url of [teaser, reward])
        expect([...new URL(url).searchParams]).toEqual([
          ['journeyId', 'r&1'],
          ['utm_source', 'mail'],
          ['cmeta_a', '2 3'],
        ]);
      const disabled = new URL((await urls('?disableTracking=1')).teaser).searchParams.get('disableTracking');
      expect(isTrackingDisabled(disabled)).toBe(true);
      expect((await urls(`?journeyId=${'j'.repeat(256)}`)).teaser).toBe(`${PIXELS}/teaser`);
    });

    it('counts views with these parameters when a pixel is loaded, not when its URL is requested', async () => {
      const { reward } = await urls('?journeyId=r-9&cmeta_a=1');
      expect(await world.counted('spring')).toEqual([]);
      const { pathname, search } = new URL(reward);
      await http(world.boost)
        .get(pathname + search)
        .expect(200);
      expect(await world.counted('spring')).toEqual([
        expect.objectContaining({ type: 'reward_view', journey: 'r-9', cmeta: { a: '1' } }),
      ]);
    });

    it('rejects parameters that make the URL too long', async () => {
      const many = Array.from({ length: 45 }, (_, index) => `cmeta_n${index}=${'x'.repeat(250)}`).join('&');
      expect(await refusal(`/outreach/campaign/spring/pixel-urls?${many}`)).toEqual([
        400,
        'VALIDATION_FAILED',
      ]);
    });
  });
});
