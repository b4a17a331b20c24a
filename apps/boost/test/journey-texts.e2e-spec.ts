import type { ResolvedPerk } from '@perkway/domain';
import { http } from '@perkway/testing';
import type { RewardsResource, TeasersResource } from '../src/journey/journey.dto.js';
import { BoostWorld } from './boost-world.js';

const ENGLISH: Partial<ResolvedPerk> = {
  title: 'A weekend by train',
  redemptionNote: 'Taken off when you pay.',
  details: 'Second class.',
};

describe('texts of the customer journey', () => {
  const world = new BoostWorld();
  beforeAll(async () => {
    await world.start();
    world.shown.set('train', {
      en: { ...ENGLISH, languages: ['fr', 'pt-BR'], coupon: 'SLOWMORNING' },
      fr: { ...ENGLISH, title: 'Un week-end en train', languages: ['fr', 'pt-BR'], coupon: 'SLOWMORNING' },
      'pt-BR': { ...ENGLISH, title: 'Fim de semana', languages: ['fr', 'pt-BR'], coupon: 'SLOWMORNING' },
    });
    await world.campaign('travel', ['coffee', 'train']);
  });
  afterAll(() => world.stop());

  const read = async <Body = RewardsResource>(path: string, acceptLanguage?: string) => {
    const requested = http(world.boost, world.acme).get(path);
    if (acceptLanguage !== undefined) requested.set('accept-language', acceptLanguage);
    const { body, headers } = await requested.expect(200);
    return { ...(body as Body), language: headers['content-language'], vary: headers.vary };
  };
  const titles = ({ incentives }: TeasersResource) => incentives.map(({ title }) => title);

  it.each([
    [undefined, '', 'en', 'A weekend by train'],
    ['fr', '', 'fr', 'Un week-end en train'],
    ['FR-ca, en;q=0.5', '', 'fr', 'Un week-end en train'],
    ['pt-br', '', 'pt-BR', 'Fim de semana'],
    ['pt', '', 'en', 'A weekend by train'],
    ['ja, fr;q=0.1', '', 'fr', 'Un week-end en train'],
    ['en-GB, fr', '', 'en', 'A weekend by train'],
    ['en', '?lang=fr', 'fr', 'Un week-end en train'],
    ['fr', '?lang=en&lang=it', 'en', 'A weekend by train'],
    ['', '?lang=%00', 'en', 'A weekend by train'],
  ])('Accept-Language %j with query %j returns %s', async (header, query, language, title) => {
    for (const endpoint of ['teasers', 'rewards']) {
      const response = await read(`/${endpoint}/travel${query}`, header);
      expect([response.language, response.vary, titles(response)]).toEqual([
        language,
        'Accept-Language',
        ['Title of coffee', title],
      ]);
    }
  });

  it('rewards include redemption details and the coupon of static-coupon perks; teasers do not', async () => {
    const { incentives } = await read('/rewards/travel');
    expect(incentives.map(({ redemption_note, details }) => [redemption_note, details])).toEqual([
      ['', ''],
      ['Taken off when you pay.', 'Second class.'],
    ]);
    expect(incentives.map((incentive) => ('coupon' in incentive ? incentive.coupon : 'none'))).toEqual([
      'none',
      'SLOWMORNING',
    ]);
    const teasers = await read<TeasersResource>('/teasers/travel', 'fr');
    for (const teaser of teasers.incentives)
      expect(Object.keys(teaser)).toEqual(['perkId', 'title', 'callout', 'description', 'media']);
  });

  it('a campaign without existing perks has no Content-Language, but still a Vary header', async () => {
    await world.campaign('empty', []);
    const { language, vary, incentives } = await read('/rewards/empty', 'fr');
    expect([language, vary, incentives]).toEqual([undefined, 'Accept-Language', []]);
  });

  it('a response to a web site varies by origin and language', async () => {
    world.accounts.setAccount('acme', { allowedOrigins: ['https://app.acme.example'] });
    await http(world.boost)
      .get('/rewards/travel')
      .set({ 'x-api-key': world.acme.key, origin: 'https://app.acme.example', 'accept-language': 'fr' })
      .expect('vary', 'Origin, Accept-Language')
      .expect('content-language', 'fr');
  });

  it('texts in a cached language stay available without the catalogue', async () => {
    await read('/rewards/travel', 'fr');
    await world.catalogue.close();
    try {
      expect(titles(await read('/rewards/travel', 'fr'))).toContain('Un week-end en train');
    } finally {
      await world.startCatalogue();
    }
  });
});
