import { RESOLVE_OFFERS, RESOLVE_PERKS, type RpcContract } from '@perkway/domain';
import { rpcCaller, type RpcCaller } from '@perkway/testing';
import { aGroup, PerksFixture } from './perks-fixture.js';

describe('the perks host', () => {
  let perks: PerksFixture;
  beforeAll(async () => {
    perks = await PerksFixture.start();
  });
  afterAll(() => perks?.close());

  describe('RPCs of other apps', () => {
    const sendRequest = <Request extends object, Reply extends object>(
      question: RpcContract<Request, Reply>,
      request: NoInfer<Request>,
    ) => other.rpc.request(question, request);
    let other: RpcCaller;
    beforeAll(async () => {
      other = await rpcCaller(perks.nats.url);
    });
    afterAll(() => other.close());

    it('return offer URLs and texts, in the default language', async () => {
      const plain = await perks.putPerk();
      const rich = await perks.putPerk({
        offer_url: 'https://shop.example/für-zwei?x=1',
        coupon: 'TWO',
        media: { banner: 'https://media.example/b.jpg', logo: null },
        translations: { en: { title: 'In English' }, fr: { callout: 'En français' } },
      });
      const proto = await perks.putPerk({}, '__proto__');
      const ids = [plain, rich, proto, 'unknown', 'not an id', '\0', 7, null] as string[];
      expect(await sendRequest(RESOLVE_OFFERS, { ids })).toEqual(
        Object.assign(Object.create(null), {
          [plain]: 'https://shop.example/two-for-one',
          // Encoded for a Location header.
          [rich]: 'https://shop.example/f%C3%BCr-zwei?x=1',
          ['__proto__']: 'https://shop.example/two-for-one',
        }),
      );
      const found = await sendRequest(RESOLVE_PERKS, { ids });
      expect(Object.keys(found).sort()).toEqual([plain, rich, proto].sort());
      expect(found[plain]).toEqual({
        title: 'Two for one',
        callout: '2 for 1',
        description: 'Buy one, get one.',
        redemptionNote: 'Applied automatically.',
        details: 'Until the end of the year.',
        coupon: null,
        media: { banner: null, logo: null },
        language: 'en',
        languages: [],
      });
      expect(found[rich]).toMatchObject({
        title: 'In English',
        callout: '2 for 1',
        coupon: 'TWO',
        media: { banner: 'https://media.example/b.jpg', logo: null },
        languages: ['en', 'fr'],
      });
      expect(await sendRequest(RESOLVE_PERKS, { ids: [] })).toEqual({});
    });

    it('return the requested language, field by field', async () => {
      const perk = await perks.putPerk({
        translations: {
          fr: { title: 'Deux pour un', details: 'Une fois par jour.' },
          'fr-CA': { title: 'Deux pour le prix d’un' },
          en: { callout: 'Two for one!' },
        },
      });
      const texts = async (language: string) => {
        const { title, callout, redemptionNote, details, ...rest } = (
          await sendRequest(RESOLVE_PERKS, { ids: [perk], language })
        )[perk]!;
        return [rest.language, title, callout, redemptionNote, details];
      };
      expect(await texts('FR-ca')).toEqual([
        'fr-CA',
        'Deux pour le prix d’un',
        'Two for one!',
        'Applied automatically.',
        'Une fois par jour.',
      ]);
      expect(await texts('de')).toEqual([
        'de',
        'Two for one',
        'Two for one!',
        'Applied automatically.',
        'Until the end of the year.',
      ]);
      expect((await texts("x'); --"))[0]).toBe('en');
    });

    it('return any number of perks of the largest size', async () => {
      // Each of these characters takes six bytes in a message.
      const text = (characters: number) => '\u0001'.repeat(characters);
      const largest = await perks.putPerk({
        title: text(300),
        description: text(20_000),
        callout: text(1_000),
        redemption_note: text(5_000),
        details: text(50_000),
        coupon: text(255),
        offer_url: `https://shop.example/${'🎁'.repeat(2_027)}`,
        media: { banner: `https://media.example/${'🎁'.repeat(2_026)}`, logo: null },
      });
      await perks.database.query(
        `insert into perks select (jsonb_populate_record(p, jsonb_build_object('id', id || '-' || copy))).*
         from perks p, generate_series(1, 59) copy where id = $1`,
        [largest],
      );
      const ids = [largest, ...Array.from({ length: 59 }, (_, index) => `${largest}-${index + 1}`)];
      expect(Object.keys(await sendRequest(RESOLVE_OFFERS, { ids }))).toEqual(ids);
      const found = await sendRequest(RESOLVE_PERKS, { ids });
      expect(Object.keys(found)).toEqual(ids);
      for (const perk of Object.values(found)) expect(perk).toEqual(found[largest]);
      expect(found[largest]!.details).toBe(text(50_000));
    });
  });

  it('writes no key, token or code to its logs', async () => {
    const perk = await perks.putPerk();
    const id = await perks.putCollection([aGroup('One', 1, [perk, 1])]);
    const { body } = await perks.get(`/perk-collections/${id}?api_key=${perks.user.key}`).expect(200);
    await perks.get(`/perk-collections/unknown?api_key=${perks.user.key}`).expect(404);
    const token = body.perks[0].click_url.split('/c/')[1];
    const logs = perks.app.logs.join('');
    for (const secret of [perks.user.key, perks.admin.key, token.slice(0, 60)])
      expect(logs).not.toContain(secret);
  });
});
