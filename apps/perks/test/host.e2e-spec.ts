import { RESOLVE_OFFERS, RESOLVE_PERKS, type Question } from '@perkway/domain';
import { NatsService, RpcClient } from '@perkway/platform';
import { aGroup, aPerk, PerksFixture } from './perks-fixture.js';

interface Operation {
  operationId?: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: unknown }> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}
interface Media {
  schema: { $ref?: string; example?: unknown };
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Record<string, object>; required?: string[] }> };
}

describe('the perks host', () => {
  let perks: PerksFixture;
  beforeAll(async () => {
    perks = await PerksFixture.start();
  });
  afterAll(() => perks?.close());

  describe('asked by other apps', () => {
    const ask = <Request extends object, Reply extends object>(
      question: Question<Request, Reply>,
      request: NoInfer<Request>,
    ) => perks.app.app.get(RpcClient).ask(question, request);
    beforeAll(() => perks.app.app.get(NatsService).connected());

    it('answers where perks lead and how they are shown, in the default language', async () => {
      const plain = await perks.putPerk();
      const rich = await perks.putPerk({
        offer_url: 'https://shop.example/für-zwei?x=1',
        coupon: 'TWO',
        media: { banner: 'https://media.example/b.jpg', logo: null },
        translations: { en: { title: 'In English' }, fr: { callout: 'En français' } },
      });
      const proto = await perks.putPerk({}, '__proto__');
      const ids = [plain, rich, proto, 'unknown', 'not an id', '\0', 7, null] as string[];
      expect(await ask(RESOLVE_OFFERS, { ids })).toEqual(
        Object.assign(Object.create(null), {
          [plain]: 'https://shop.example/two-for-one',
          // As it can stand in a header.
          [rich]: 'https://shop.example/f%C3%BCr-zwei?x=1',
          ['__proto__']: 'https://shop.example/two-for-one',
        }),
      );
      const found = await ask(RESOLVE_PERKS, { ids });
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
      expect(await ask(RESOLVE_PERKS, { ids: [] })).toEqual({});
    });

    it('answers in the language asked for, field by field', async () => {
      const perk = await perks.putPerk({
        translations: {
          fr: { title: 'Deux pour un', details: 'Une fois par jour.' },
          'fr-CA': { title: 'Deux pour le prix d’un' },
          en: { callout: 'Two for one!' },
        },
      });
      const texts = async (language: string) => {
        const { title, callout, redemptionNote, details, ...rest } = (
          await ask(RESOLVE_PERKS, { ids: [perk], language })
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

    it('answers about any number of perks that are as large as they may be', async () => {
      // Each takes six bytes in a message.
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
      expect(Object.keys(await ask(RESOLVE_OFFERS, { ids }))).toEqual(ids);
      const found = await ask(RESOLVE_PERKS, { ids });
      expect(Object.keys(found)).toEqual(ids);
      for (const perk of Object.values(found)) expect(perk).toEqual(found[largest]);
      expect(found[largest]!.details).toBe(text(50_000));
    });
  });

  describe('documents', () => {
    let document: OpenApi;
    beforeAll(async () => {
      const answer = await fetch(`${perks.app.url}/docs-json`);
      document = (await answer.json()) as OpenApi;
    });
    const operations = () =>
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
      );

    it('every operation under the name of the specification', () => {
      expect(Object.fromEntries(operations().map(({ name, operationId }) => [name, operationId]))).toEqual({
        'get /perk-collections': 'listPerkCollections',
        'get /perk-collections/{collectionId}': 'getPerkCollection',
        'get /perk-collections/{collectionId}/perk/{perkId}': 'getPerkOfCollection',
        'get /perk-collections/{collectionId}/categories': 'getPerkCollectionCategories',
        'post /perk-collections/{collectionId}/perk/{perkId}/coupon': 'allocateCouponCode',
        'put /admin/categories/{id}': 'putCategory',
        'put /admin/perks/{perkId}': 'putPerk',
        'post /admin/perks/{perkId}/coupon-codes': 'loadCouponCodes',
        'get /admin/perks/{perkId}/coupon-codes': 'getCouponCodeStock',
        'put /admin/perk-collections/{collectionId}': 'putPerkCollection',
      });
    });

    it('every parameter of getPerkCollection', () => {
      const { parameters } = document.paths['/perk-collections/{collectionId}']!.get!;
      expect(parameters!.map(({ name, in: place }) => `${place} ${name}`).sort()).toEqual([
        'header Accept-Language',
        'header If-None-Match',
        'header X-Disable-View-Tracking',
        'path collectionId',
        'query api_key',
        'query categories',
        'query cmeta_user_id',
        'query lang',
        'query location_city',
        'query location_country',
        'query location_region',
        'query show_coupon_perks',
        'query utm_campaign',
        'query utm_content',
        'query utm_medium',
        'query utm_source',
        'query utm_term',
      ]);
    });

    it('every answer and every error with an example', () => {
      const hasExample = ({ schema, example, examples }: Media): boolean => {
        if (example !== undefined || schema.example !== undefined) return true;
        if (examples) return Object.values(examples).every(({ value }) => value !== undefined);
        const properties = document.components.schemas[schema.$ref?.split('/').at(-1) ?? '']?.properties;
        return (
          properties !== undefined && Object.values(properties).every((property) => isIllustrated(property))
        );
      };
      const isIllustrated = (property: object): boolean => {
        if ('example' in property) return true;
        const text = JSON.stringify(property);
        const reference = /#\/components\/schemas\/(\w+)/.exec(text)?.[1];
        return (
          reference !== undefined &&
          Object.values(document.components.schemas[reference]!.properties).every((inner) =>
            isIllustrated(inner),
          )
        );
      };
      for (const { name, responses } of operations())
        for (const [status, { description, content }] of Object.entries(responses)) {
          const where = `${name} ${status}`;
          expect([where, description]).not.toEqual([where, '']);
          if (status === '304') expect([where, content]).toEqual([where, undefined]);
          else
            for (const media of Object.values(content!))
              expect([where, hasExample(media)]).toEqual([where, true]);
        }
    });

    it('the errors that occur', () => {
      for (const { name, responses } of operations()) {
        expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['401', '503'])]);
        if (name.includes('/admin/'))
          expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['403'])]);
        if (/^(put|post) /.test(name))
          expect([name, Object.keys(responses)]).toEqual([
            name,
            expect.arrayContaining(['400', '413', '415']),
          ]);
      }
    });

    it('answers as they are', async () => {
      const perk = await perks.putPerk({
        coupon: 'SAVE10',
        locations: [{ country: 'FR', region: 'x', city: 'y' }],
      });
      const single = await perks.putPerk({ is_coupon_perk: true });
      const id = await perks.putCollection([aGroup('One', 1, [perk, 1], [single, 2])]);
      const { body } = await perks.get(`/perk-collections/${id}?show_coupon_perks=1`).expect(200);
      const schema = (name: string) => document.components.schemas[name]!;
      const check = (name: string, value: object) => {
        expect([name, Object.keys(schema(name).properties)]).toEqual([
          name,
          expect.arrayContaining(Object.keys(value)),
        ]);
        expect([name, Object.keys(value)]).toEqual([
          name,
          expect.arrayContaining(schema(name).required ?? []),
        ]);
      };
      check('PerkCollectionResponse', body);
      check('GroupResponse', body.groups[0]);
      for (const each of body.perks) {
        check('PerkResponse', each);
        check('RelationsResponse', each.relations);
      }
      check('LocationResponse', body.perks[0].relations.locations[0]);
      check('PerkResource', (await perks.put('/admin/perks/documented', aPerk()).expect(200)).body);
    });
  });

  it('writes no key, token or code into its logs', async () => {
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
