import { aKey } from '@perkway/testing';
import {
  deriveJourneyId,
  type CampaignViewEvent,
  type ConversionEvent,
  type IncentiveClickEvent,
} from '@perkway/domain';
import { waitFor } from '@perkway/testing';
import type { Response } from 'supertest';
import type { RewardsResource, TeasersResource } from '../src/journey/journey.dto.js';
import { BoostWorld } from './boost-world.js';

const SITE = 'https://app.acme.example';

describe('customer journey', () => {
  const world = new BoostWorld();
  let campaigns = 0;
  let campaign: string;
  beforeAll(async () => {
    await world.start();
    world.accounts.setAccount('acme', { allowedOrigins: [SITE] });
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    campaign = `campaign-${++campaigns}`;
    await world.campaign(campaign, ['coffee', 'tea']);
  });

  const read = async <T>(path: string): Promise<T> => {
    const { body } = await world.send(path, { key: world.acme.key }).expect(200);
    return body as T;
  };
  const track = (json: unknown, query = '', key = world.acme.key) =>
    world.send(`/track/${campaign}${query}`, { json, key });
  const refusal = ({ status, body }: Response) => {
    const { code, errors } = body as { code: string; errors?: { field: string }[] };
    return [status, code, ...(errors ?? []).map(({ field }) => field)];
  };

  test('teasers show the incentives in order, without links, and record nothing', async () => {
    const teasers = await read<TeasersResource>(`/teasers/${campaign}?journeyId=r-1&cmeta_a=1`);
    expect(teasers).toEqual({
      campaignId: campaign,
      journeyId: 'r-1',
      incentives: ['coffee', 'tea'].map((perkId) => ({
        perkId,
        title: `Title of ${perkId}`,
        callout: '25% off',
        description: 'Long text',
        media: { banner: null, logo: 'https://cdn.example/logo.svg' },
      })),
    });
    expect((await read<TeasersResource>(`/teasers/${campaign}`)).journeyId).toBe(deriveJourneyId(campaign));
    expect(await world.counted(campaign)).toEqual([]);
  });

  test('rewards have links that carry journey and attributes; the click wins; a token is of one kind', async () => {
    const { journeyId, incentives } = await read<RewardsResource>(
      `/rewards/${campaign}?journeyId=r-2&cmeta_a=1&cmeta_b=2&utm_source=app`,
    );
    expect(journeyId).toBe('r-2');
    expect(incentives.map(({ perkId }) => perkId)).toEqual(['coffee', 'tea']);
    const url = new URL(incentives[1]!.click_url);
    expect(url.origin + url.pathname).toBe('https://boost.perkway.test/click');
    expect(await world.counted(campaign)).toEqual([]);
    const { status, headers } = await world.send(`${url.pathname}${url.search}&cmeta_b=own`);
    expect([status, headers.location, headers['cache-control']]).toEqual([
      302,
      'https://shop.example/tea',
      'no-store',
    ]);
    const [click] = await world.counted<IncentiveClickEvent>(campaign);
    expect(click).toMatchObject({
      type: 'incentive_click',
      account: 'acme',
      perk: 'tea',
      journey: 'r-2',
      channel: 'journey',
      cmeta: { a: '1', b: 'own' },
      utm: { utm_source: 'app' },
      traffic: { class: 'human', reason: 'none' },
    });
    expect((await world.send(`/outreach/click${url.search}`)).status).toBe(404);
    expect(refusal(await world.send('/click'))).toEqual([400, 'VALIDATION_FAILED', 'token']);
  });

  test('disableTracking given to rewards holds for their clicks', async () => {
    const { incentives } = await read<RewardsResource>(`/rewards/${campaign}?disableTracking=true`);
    const { pathname, search } = new URL(incentives[0]!.click_url);
    expect((await world.send(pathname + search)).status).toBe(302);
    expect(await world.counted(campaign)).toEqual([]);
  });

  test('a perk that is gone is left out', async () => {
    world.offers.set('short-lived', 'https://shop.example/x');
    await world.campaign(campaign, ['short-lived', 'tea']);
    world.offers.delete('short-lived');
    await waitFor(async () => {
      const { incentives } = await read<TeasersResource>(`/teasers/${campaign}`);
      expect(incentives.map(({ perkId }) => perkId)).toEqual(['tea']);
    }, 'teasers without it');
  });

  test('tracked views and conversions carry everything given', async () => {
    const view = await track(
      { event: 'reward_view', journeyId: 'r-3', perkId: 'tea', value: 5 },
      '?utm_source=app',
    );
    expect([view.status, view.body]).toEqual([202, { journeyId: 'r-3' }]);
    const conversion = await track(
      { event: 'conversion', value: 129.9, currency: 'EUR', externalId: 'order-1', perkId: null },
      '?cmeta_user_id=7',
    );
    expect(conversion.body).toEqual({ journeyId: deriveJourneyId(campaign) });
    const [first, second] = await world.counted<CampaignViewEvent | ConversionEvent>(campaign);
    expect(first).toEqual({
      v: 1,
      type: 'reward_view',
      id: expect.any(String),
      account: 'acme',
      at: expect.any(Number),
      campaign,
      journey: 'r-3',
      channel: 'journey',
      perk: 'tea',
      utm: { utm_source: 'app' },
    });
    expect(second).toEqual({
      v: 1,
      type: 'conversion',
      id: expect.any(String),
      account: 'acme',
      at: expect.any(Number),
      campaign,
      journey: deriveJourneyId(campaign),
      value: 129.9,
      currency: 'EUR',
      externalId: 'order-1',
      cmeta: { user_id: '7' },
    });
  });

  test('tracked views have no budget; disableTracking records nothing', async () => {
    await Promise.all(Array.from({ length: 10 }, () => track({ event: 'teaser_view' })));
    expect((await track({ event: 'teaser_view' }, '?disableTracking=1')).status).toBe(202);
    expect(await world.counted(campaign)).toHaveLength(10);
  });

  test.each([
    [{}, 'event'],
    [{ event: 'click' }, 'event'],
    [{ event: 'teaser_view', journeyId: 'j'.repeat(256) }, 'journeyId'],
    [{ event: 'teaser_view', journeyId: 7 }, 'journeyId'],
    [{ event: 'teaser_view', journeyId: '' }, 'journeyId'],
    [{ event: 'conversion', value: '12', currency: 'EUR' }, 'value'],
    [{ event: 'conversion', value: 1e300, currency: 'EUR' }, 'value'],
    [{ event: 'conversion', value: 12 }, 'currency'],
    [{ event: 'conversion', value: 0, currency: null }, 'currency'],
    [{ event: 'conversion', currency: 'eur' }, 'currency'],
    [{ event: 'conversion', currency: 'XYZ' }, 'currency'],
    [{ event: 'conversion', externalId: 'x'.repeat(256) }, 'externalId'],
    [{ event: 'conversion', externalId: 'a\0b' }, 'externalId'],
    [{ event: 'conversion', perkId: 'a b' }, 'perkId'],
  ])('%j is refused for its %s', async (body, field) => {
    expect(refusal(await track(body))).toEqual([400, 'VALIDATION_FAILED', field]);
    expect(await world.counted(campaign)).toEqual([]);
  });

  test('a perk outside the campaign, no object, no key, a foreign campaign', async () => {
    expect(refusal(await track({ event: 'conversion', perkId: 'milk' }))).toEqual([
      400,
      'PERK_IS_NOT_IN_CAMPAIGN',
    ]);
    expect(refusal(await track([]))).toEqual([400, 'VALIDATION_FAILED', 'event']);
    expect(refusal(await track('text')).slice(0, 2)).toEqual([400, 'VALIDATION_FAILED']);
    expect(refusal(await track({ event: 'teaser_view' }, '', ''))).toEqual([401, 'API_KEY_INVALID']);
    expect(refusal(await track({ event: 'teaser_view' }, '', world.other.key))).toEqual([
      404,
      'CAMPAIGN_NOT_FOUND',
    ]);
    for (const path of [`/teasers/${campaign}`, `/rewards/${campaign}`]) {
      expect(refusal(await world.send(path))).toEqual([401, 'API_KEY_INVALID']);
      expect(refusal(await world.send(path, { key: world.other.key }))).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
      expect((await world.send(`${path}?api_key=${world.acme.key}`)).status).toBe(200);
    }
  });

  describe('CORS', () => {
    const preflight = (path: string, origin: string) =>
      world.send(path, {
        method: 'options',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-api-key',
        },
      });

    test.each(['teasers', 'rewards', 'track'])('a listed site may call /%s', async (endpoint) => {
      const { status, headers } = await preflight(`/${endpoint}/${campaign}`, SITE);
      expect(status).toBe(204);
      expect(headers).toMatchObject({
        'access-control-allow-origin': SITE,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': 'content-type, x-api-key',
        vary: 'Origin',
      });
      const sent = endpoint === 'track' ? { json: { event: 'teaser_view' } } : {};
      const answer = await world.send(`/${endpoint}/${campaign}`, {
        ...sent,
        key: world.acme.key,
        headers: { origin: SITE },
      });
      expect(answer.status).toBeLessThan(300);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': SITE,
        vary: expect.stringMatching(/^Origin\b/),
      });
    });

    test('with a key of role JOURNEY; one of a server works as ever and is told that it does not belong there', async () => {
      const site = aKey('acme', 'JOURNEY');
      const theirs = aKey('other', 'JOURNEY');
      world.accounts.add(site, theirs);
      for (const [path, json] of [
        [`/teasers/${campaign}`],
        [`/rewards/${campaign}`],
        [`/track/${campaign}`, { event: 'teaser_view' }],
      ] as const) {
        const ask = (key: string) => world.send(path, { json, key, headers: { origin: SITE } });
        const answer = await ask(site.key);
        expect(answer.status).toBeLessThan(300);
        expect(answer.headers['access-control-allow-origin']).toBe(SITE);
        expect(answer.headers['perkway-detail']).toBeUndefined();
        expect((await ask(theirs.key)).status).toBe(404);
        const ofServer = await ask(world.acme.key);
        expect(ofServer.headers['access-control-allow-origin']).toBe(SITE);
        expect(ofServer.headers['perkway-detail']).toMatch(/does not belong in a browser/);
        expect((await world.send(path, { json, key: world.acme.key })).headers).not.toHaveProperty(
          'perkway-detail',
        );
      }
      const { status } = await world.send(`/outreach/campaign/${campaign}/reward-url?perkId=tea`, {
        key: site.key,
      });
      expect(status).toBe(403);
    });

    test('it can read refusals too', async () => {
      const answer = await world.send(`/teasers/${campaign}`, { headers: { origin: SITE } });
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, SITE]);
    });

    test('nobody else may, and does not learn whether a campaign exists', async () => {
      for (const [path, origin] of [
        [`/teasers/${campaign}`, 'https://evil.example'],
        [`/teasers/${campaign}`, 'null'],
        [`/teasers/${campaign}`, `${SITE}.evil.example`],
        ['/teasers/unknown', SITE],
      ] as const) {
        const { status, headers } = await preflight(path, origin);
        expect(status).toBe(204);
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
      const answer = await world.send(`/teasers/${campaign}`, {
        key: world.acme.key,
        headers: { origin: 'https://evil.example' },
      });
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      const elsewhere = await preflight(`/outreach/campaign/${campaign}/reward-url`, SITE);
      expect(elsewhere.headers['access-control-allow-origin']).toBeUndefined();
    });

    test('a change of the list is in force within seconds', async () => {
      expect((await preflight(`/track/${campaign}`, SITE)).headers['access-control-allow-origin']).toBe(SITE);
      world.accounts.setAccount('acme', { allowedOrigins: [] });
      try {
        await waitFor(async () => {
          const { headers } = await preflight(`/track/${campaign}`, SITE);
          expect(headers).not.toHaveProperty('access-control-allow-origin');
        }, 'the change');
      } finally {
        world.accounts.setAccount('acme', { allowedOrigins: [SITE] });
      }
    });
  });
});
