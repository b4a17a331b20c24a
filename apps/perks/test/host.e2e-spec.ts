import { ClientNats } from '@nestjs/microservices';
import { SUBJECTS, type ResolvePerksReply } from '@perkway/domain';
import { firstValueFrom } from 'rxjs';
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
    let client: ClientNats;
    beforeAll(() => {
      client = new ClientNats({ servers: perks.nats.url });
    });
    afterAll(() => client.close());
    const resolve = (data: object) =>
      firstValueFrom(client.send<ResolvePerksReply>(SUBJECTS.resolvePerks, data));

    it('answers where perks lead and how they are shown, in the default language', async () => {
      const plain = await perks.putPerk();
      const rich = await perks.putPerk({
        offer_url: 'https://shop.example/für-zwei?x=1',
        media: { banner: 'https://media.example/b.jpg', logo: null },
        translations: { en: { title: 'In English' }, fr: { callout: 'En français' } },
      });
      const proto = await perks.putPerk({}, '__proto__');
      const { perks: found } = await resolve({
        ids: [plain, rich, proto, 'unknown', 'not an id', '\0', 7, null],
      });
      expect(Object.keys(found).sort()).toEqual([plain, rich, proto].sort());
      expect(found[plain]).toEqual({
        offerUrl: 'https://shop.example/two-for-one',
        title: 'Two for one',
        callout: '2 for 1',
        description: 'Buy one, get one.',
        media: { banner: null, logo: null },
      });
      expect(found[rich]).toMatchObject({
        // As it can stand in a header.
        offerUrl: 'https://shop.example/f%C3%BCr-zwei?x=1',
        title: 'In English',
        callout: '2 for 1',
        media: { banner: 'https://media.example/b.jpg', logo: null },
      });
      expect(await resolve({ ids: [] })).toEqual({ perks: {} });
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
