import { http } from '@perkway/testing';
import { TrackingService } from '@perkway/tracking';
import { aGroup, PerksFixture } from './perks-fixture.js';

describe('views of perks', () => {
  let perks: PerksFixture;
  let shown: string;
  let single: string;
  let local: string;
  let collection: string;
  beforeAll(async () => {
    perks = await PerksFixture.start();
    shown = await perks.putPerk();
    single = await perks.putPerk({ is_coupon_perk: true });
    local = await perks.putPerk({ locations: [{ country: 'FR' }] });
    collection = await perks.putCollection([
      aGroup('One', 1, [shown, 2], [single, 3]),
      aGroup('Two', 2, [shown, 1], [local, 4]),
    ]);
  });
  afterAll(() => perks?.close());
  beforeEach(() => perks.forgetEvents());

  const read = (path = '') => perks.get(`/perk-collections/${collection}${path}`);

  it('are one event per read that names each perk shown once', async () => {
    const before = Date.now();
    await read('?show_coupon_perks=true').expect(200);
    const [view, ...others] = await perks.views();
    expect(others).toEqual([]);
    expect(view).toEqual({
      v: 1,
      type: 'perk_view',
      id: expect.stringMatching(/^[\w-]{22}$/),
      account: perks.account,
      at: expect.any(Number),
      collection,
      perks: [shown, single, local],
    });
    expect(view!.at).toBeGreaterThanOrEqual(before);
    expect(view!.at).toBeLessThanOrEqual(Date.now());
  });

  it('are durable before the response is sent', async () => {
    for (let count = 1; count <= 5; count += 1) {
      await read().expect(200);
      expect(await perks.views()).toHaveLength(count);
    }
  });

  it.each(['', 'perk'])('hold the response back until they are durable (%s)', async (kind) => {
    const events: string[] = [];
    let store = () => {};
    const recorded = new Promise<void>((resolve) => {
      jest.spyOn(perks.app.app.get(TrackingService), 'trackSerialized').mockImplementationOnce(() => {
        resolve();
        return new Promise((durable) => (store = durable));
      });
    });
    const reading = read(kind && `/perk/${shown}`).then(({ status }) => events.push(`responded ${status}`));
    await recorded;
    // Gives a response that does not wait for its view the time to arrive first.
    await read('/categories').expect(200);
    events.push('durable');
    store();
    await reading;
    expect(events).toEqual(['durable', 'responded 200']);
  });

  it('name only the perks that pass the filters', async () => {
    await read('?location_country=DE').expect(200);
    expect((await perks.views()).map((view) => view.perks)).toEqual([[shown]]);
  });

  it('are not recorded if no perk was shown', async () => {
    await perks.putCategory(99);
    await read('?categories=99').expect(200);
    await read('?categories[]=99').expect(200);
    await read('?categories%5B%5D=99').expect(200);
    await read('/categories').expect(200);
    await perks.get('/perk-collections').expect(200);
    expect(await perks.views()).toEqual([]);
  });

  it('also come from reads of one perk', async () => {
    await read(`/perk/${single}`).expect(200);
    expect((await perks.views()).map((view) => view.perks)).toEqual([[single]]);
  });

  it.each(['true', 'TRUE', '1'])('are suppressed by X-Disable-View-Tracking: %s', async (value) => {
    for (const path of ['', `/perk/${shown}`])
      await read(path).set('X-Disable-View-Tracking', value).expect(200);
    expect(await perks.views()).toEqual([]);
  });

  it('are not suppressed by any other value', async () => {
    for (const value of ['false', '', 'no', '0', '11'])
      await read().set('X-Disable-View-Tracking', value).expect(200);
    expect(await perks.views()).toHaveLength(5);
  });

  it('are not recorded for HEAD, which returns the headers of GET', async () => {
    for (const path of ['', `/perk/${shown}`, '/categories']) {
      const url = `/perk-collections/${collection}${path}`;
      const { headers: expected } = await perks.get(url).set('X-Disable-View-Tracking', 'true').expect(200);
      const { headers, text } = await http(perks.app).head(url).set('X-API-Key', perks.user.key).expect(200);
      expect(text).toBeUndefined();
      for (const name of [
        'content-type',
        'content-length',
        'etag',
        'vary',
        'content-language',
        'cache-control',
      ])
        expect(headers[name]).toBe(expected[name]);
    }
    expect(await perks.views()).toEqual([]);
  });

  it('are not recorded for a rejected read', async () => {
    await read('?categories=x').expect(400);
    await read('/perk/unknown').expect(404);
    await http(perks.app).get(`/perk-collections/${collection}`).expect(401);
    expect(await perks.views()).toEqual([]);
  });

  it('carry the custom attributes of the read', async () => {
    await read('?utm_source=app&cmeta_user=7&cmeta_bad name=x&cmeta_long=' + 'x'.repeat(255)).expect(200);
    expect(await perks.views()).toMatchObject([{ utm: { utm_source: 'app' }, cmeta: { user: '7' } }]);
    expect(Object.keys((await perks.views())[0]!.cmeta!)).toEqual(['user']);
  });

  describe('and conditional reads', () => {
    it('return 304 without a body while the content is the same', async () => {
      for (const path of ['', `/perk/${shown}`, '/categories']) {
        const { headers } = await read(path).expect(200);
        const again = await read(path).set('If-None-Match', headers.etag!).expect(304);
        expect(again.text).toBe('');
        expect(again.headers).toMatchObject({
          etag: headers.etag,
          vary: 'Accept-Language',
          'content-language': 'en',
        });
        expect(again.headers).not.toHaveProperty('content-type');
        await read(path).set('If-None-Match', '"other"').expect(200);
      }
    });

    it('count as views, because the customers still see the perks', async () => {
      const { headers } = await read().expect(200);
      await perks.forgetEvents();
      await read().set('If-None-Match', headers.etag!).expect(304);
      expect((await perks.views()).map((view) => view.perks)).toEqual([[shown, local]]);
    });

    it('do not count for a content sync', async () => {
      const sync = () => read().set('X-Disable-View-Tracking', 'true');
      const { headers } = await sync().expect(200);
      await sync().set('If-None-Match', headers.etag!).expect(304);
      expect(await perks.views()).toEqual([]);
    });

    it('see an edit of anything shown, and of nothing else', async () => {
      await perks.putCategory(50, { name: 'Before' });
      const perk = await perks.putPerk({ categories: [50] });
      const id = await perks.putCollection([aGroup('One', 1, [perk, 1])]);
      const etag = async () => (await perks.get(`/perk-collections/${id}`).expect(200)).headers.etag;
      const tags = [await etag()];
      const edit = async (work: Promise<unknown>) => {
        await work;
        tags.push(await etag());
      };
      await edit(perks.putPerk({ categories: [50] }, perk));
      await edit(perks.putPerk());
      expect(new Set(tags).size).toBe(1);
      await edit(perks.putPerk({ categories: [50], title: 'New' }, perk));
      await edit(perks.putCategory(50, { name: 'After' }));
      await edit(perks.putCollection([aGroup('Renamed', 1, [perk, 1])], id));
      await edit(perks.putCollection([aGroup('Renamed', 1, [perk, 2])], id));
      expect(new Set(tags).size).toBe(5);
    });
  });
});
