import {
  deriveJourneyId,
  type CampaignViewEvent,
  type ConversionEvent,
  type IncentiveClickEvent,
} from '@perkway/domain';
import { aKey, stopClock, waitFor } from '@perkway/testing';
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
  afterEach(() => jest.restoreAllMocks());

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

  it('teasers show the incentives in order, without links, and record nothing', async () => {
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

  it('click URLs of rewards carry journey and attributes, which the click overrides; tokens of the two channels differ', async () => {
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

  it('disableTracking on rewards also applies to their clicks', async () => {
    const { incentives } = await read<RewardsResource>(`/rewards/${campaign}?disableTracking=true`);
    const { pathname, search } = new URL(incentives[0]!.click_url);
    expect((await world.send(pathname + search)).status).toBe(302);
    expect(await world.counted(campaign)).toEqual([]);
  });

  it('a deleted perk is left out', async () => {
    world.offers.set('short-lived', 'https://shop.example/x');
    await world.campaign(campaign, ['short-lived', 'tea']);
    world.offers.delete('short-lived');
    await waitFor(async () => {
      const { incentives } = await read<TeasersResource>(`/teasers/${campaign}`);
      expect(incentives.map(({ perkId }) => perkId)).toEqual(['tea']);
    }, 'teasers without it');
  });

  it('tracked views and conversions carry everything given', async () => {
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

  it('repeated reports of an external id have the same event id', async () => {
    const report = (externalId?: string, key?: string) =>
      track({ event: 'conversion', ...(externalId && { externalId }) }, '', key);
    for (const externalId of ['order-1', 'order-1', 'order-2', undefined, undefined])
      await report(externalId);
    const ids = (await world.counted<ConversionEvent>(campaign)).map(({ id }) => id);
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toMatch(/^[\w-]{24}$/);
  });

  it('tracked views of a server key are not limited; disableTracking records nothing', async () => {
    await Promise.all(Array.from({ length: 10 }, () => track({ event: 'teaser_view' })));
    expect((await track({ event: 'teaser_view' }, '?disableTracking=1')).status).toBe(202);
    expect(await world.counted(campaign)).toHaveLength(10);
  });

  it.each([
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
  ])('%j is rejected because of its %s', async (body, field) => {
    expect(refusal(await track(body))).toEqual([400, 'VALIDATION_FAILED', field]);
    expect(await world.counted(campaign)).toEqual([]);
  });

  it("a perk outside the campaign, a non-object, a missing key and another account's campaign are rejected", async () => {
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

  describe('with a JOURNEY key, which is public', () => {
    const site = aKey('acme', 'JOURNEY');
    const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
    const report = (json: object, headers: Record<string, string> = {}, path = `/track/${campaign}`) =>
      world.send(path, { json, key: site.key, headers });
    beforeAll(() => world.accounts.add(site));

    it('classifies views and conversions by their user agent', async () => {
      const clock = stopClock();
      const json = { event: 'reward_view', journeyId: 'r-5', perkId: 'tea' };
      const view = await report(json, { 'user-agent': GOOGLEBOT }, `/track/${campaign}?utm_source=app`);
      expect([view.status, view.body]).toEqual([202, { journeyId: 'r-5' }]);
      await report({ event: 'conversion', externalId: 'order-1' }, { 'user-agent': GOOGLEBOT }).expect(202);
      clock.advance(1);
      await report({ event: 'conversion', value: null, currency: null }).expect(202);
      clock.advance(1);
      await track({ event: 'conversion', externalId: 'order-1' });
      const bot = { class: 'bot', reason: 'user-agent:googlebot' };
      expect(await world.counted(campaign)).toEqual([
        {
          v: 1,
          type: 'reward_view',
          id: expect.any(String),
          account: 'acme',
          at: expect.any(Number),
          campaign,
          journey: 'r-5',
          channel: 'journey',
          perk: 'tea',
          traffic: bot,
          utm: { utm_source: 'app' },
        },
        expect.objectContaining({ type: 'conversion', externalId: 'order-1', traffic: bot }),
        expect.objectContaining({ type: 'conversion', traffic: { class: 'human', reason: 'none' } }),
        expect.objectContaining({ type: 'conversion', externalId: 'order-1' }),
      ]);
      const [, ofSite, , ofServer] = await world.counted(campaign);
      expect(ofSite!.id).not.toBe(ofServer!.id);
    });

    it('counts one view per second, campaign and network, including pixels', async () => {
      stopClock();
      const loads = Array.from({ length: 12 }, (_, i) => {
        const headers = { 'x-forwarded-for': `2001:db8:7:7::${i}` };
        return i % 4 === 0
          ? world.send(`/outreach/campaign/${campaign}/tracking-pixel/teaser`, { headers })
          : report({ event: i % 2 ? 'teaser_view' : 'reward_view' }, headers);
      });
      for (const { status } of await Promise.all(loads)) expect([200, 202]).toContain(status);
      expect(await world.counted(campaign)).toHaveLength(1);
      await report({ event: 'teaser_view' }, { 'x-forwarded-for': '2001:db8:7:8::1' }).expect(202);
      expect(await world.counted(campaign)).toHaveLength(2);
      // Views reported with a server key are not limited.
      await track({ event: 'teaser_view' }).expect(202);
      expect(await world.counted(campaign)).toHaveLength(3);
    });

    it.each([
      [{ event: 'conversion', value: 1e12, currency: 'EUR' }, ['value', 'currency']],
      [{ event: 'conversion', currency: 'EUR' }, ['currency']],
      [{ event: 'teaser_view', value: 0 }, ['value']],
    ])('rejects %j, without revealing whether the campaign exists', async (json, fields) => {
      for (const path of [`/track/${campaign}`, '/track/unknown'])
        expect(refusal(await report(json, {}, path))).toEqual([400, 'VALIDATION_FAILED', ...fields]);
      expect(await world.counted(campaign)).toEqual([]);
    });

    it('counts conversions without a limit', async () => {
      await Promise.all(Array.from({ length: 5 }, () => report({ event: 'conversion' }).expect(202)));
      expect(await world.counted(campaign)).toHaveLength(5);
    });
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

    it.each(['teasers', 'rewards', 'track'])('a listed origin may call /%s', async (endpoint) => {
      const { status, headers } = await preflight(`/${endpoint}/${campaign}`, SITE);
      expect(status).toBe(204);
      expect(headers).toMatchObject({
        'access-control-allow-origin': SITE,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': 'content-type, x-api-key',
        vary: 'Origin',
      });
      const sent = endpoint === 'track' ? { json: { event: 'teaser_view' } } : {};
      const response = await world.send(`/${endpoint}/${campaign}`, {
        ...sent,
        key: world.acme.key,
        headers: { origin: SITE },
      });
      expect(response.status).toBeLessThan(300);
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': SITE,
        'access-control-expose-headers': 'x-request-id, retry-after',
        vary: expect.stringMatching(/^Origin\b/),
      });
    });

    it('a JOURNEY key works from a site; a server key works too, with a warning in a header', async () => {
      const site = aKey('acme', 'JOURNEY');
      const theirs = aKey('other', 'JOURNEY');
      world.accounts.add(site, theirs);
      for (const [path, json] of [
        [`/teasers/${campaign}`],
        [`/rewards/${campaign}`],
        [`/track/${campaign}`, { event: 'teaser_view' }],
      ] as const) {
        const sendRequest = (key: string) => world.send(path, { json, key, headers: { origin: SITE } });
        const response = await sendRequest(site.key);
        expect(response.status).toBeLessThan(300);
        expect(response.headers['access-control-allow-origin']).toBe(SITE);
        expect(response.headers['perkway-detail']).toBeUndefined();
        expect((await sendRequest(theirs.key)).status).toBe(404);
        const ofServer = await sendRequest(world.acme.key);
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

    it('a site can read error responses, too', async () => {
      const response = await world.send(`/teasers/${campaign}`, { headers: { origin: SITE } });
      expect([response.status, response.headers['access-control-allow-origin']]).toEqual([401, SITE]);
    });

    it('any listed origin can read the error for an unknown campaign', async () => {
      world.accounts.setAccount('other', { allowedOrigins: ['https://other.example'] });
      for (const origin of [SITE, 'https://other.example']) {
        for (const id of ['unknown', 'a b', '%zz']) {
          const path = `/track/${encodeURI(id)}`;
          expect((await preflight(path, origin)).headers['access-control-allow-origin']).toBe(origin);
        }
        const json = { event: 'teaser_view' };
        const { status, headers } = await world.send('/track/unknown', {
          json,
          key: world.acme.key,
          headers: { origin },
        });
        expect([status, headers['access-control-allow-origin']]).toEqual([404, origin]);
      }
      // For an existing campaign, only the origins of its account are allowed.
      const foreign = await preflight(`/track/${campaign}`, 'https://other.example');
      expect(foreign.headers).not.toHaveProperty('access-control-allow-origin');
    });

    it('/track alone parses text/plain as JSON, because navigator.sendBeacon can send nothing else', async () => {
      const site = aKey('acme', 'JOURNEY');
      world.accounts.add(site);
      const beacon = (body: string, type = 'text/plain;charset=UTF-8') =>
        world
          .send(`/track/${campaign}?api_key=${site.key}`, {
            method: 'post',
            headers: { origin: SITE, 'content-type': type },
          })
          .send(body);
      await beacon(JSON.stringify({ event: 'conversion', externalId: 'order-7' })).expect(202);
      expect(await world.counted(campaign)).toMatchObject([{ type: 'conversion', externalId: 'order-7' }]);
      expect(refusal(await beacon('no json'))).toEqual([400, 'VALIDATION_FAILED']);
      expect(refusal(await beacon('{"event":"click"}'))).toEqual([400, 'VALIDATION_FAILED', 'event']);
      expect((await beacon('{"event":"conversion"}', 'text/html')).status).toBe(415);
      const elsewhere = await world
        .send(`/admin/campaigns/${campaign}`, {
          method: 'put',
          key: world.admin.key,
          headers: { 'content-type': 'text/plain' },
        })
        .send('{}');
      expect(elsewhere.status).toBe(415);
    });

    it('failed attempts are limited with a listed Origin, too', async () => {
      const replica = await world.launch({ UNKNOWN_KEYS_PER_MINUTE: '3' });
      try {
        const failedAttempt = (at: number) =>
          world.send(`/teasers/${campaign}`, {
            to: replica,
            key: `pk_guess_number_${at}_of_many`,
            headers: { origin: SITE, 'x-forwarded-for': '203.0.113.200' },
          });
        const statuses: number[] = [];
        for (let at = 0; at < 5; at += 1) {
          const { status, headers } = await failedAttempt(at);
          expect(headers['access-control-allow-origin']).toBe(SITE);
          statuses.push(status);
        }
        expect(statuses).toEqual([401, 401, 401, 429, 429]);
        // Beyond the limit, no more keys are looked up than without an Origin.
        const lookUps = async (from: number, headers: Record<string, string>) => {
          const before = world.accounts.keysRequested();
          const failedAttempts = Array.from({ length: 40 }, (_, at) =>
            world.send(`/teasers/${campaign}`, {
              to: replica,
              key: `pk_guess_number_${from + at}_of_many`,
              headers: { ...headers, 'x-forwarded-for': '203.0.113.200' },
            }),
          );
          await Promise.all(failedAttempts);
          return world.accounts.keysRequested() - before;
        };
        const plain = await lookUps(100, {});
        expect(await lookUps(200, { origin: SITE })).toBeLessThanOrEqual(plain * 1.5 + 8);
      } finally {
        await replica.close();
      }
    });

    it('other origins are not allowed, and cannot learn whether a campaign exists', async () => {
      for (const [path, origin] of [
        [`/teasers/${campaign}`, 'https://evil.example'],
        [`/teasers/${campaign}`, 'null'],
        [`/teasers/${campaign}`, `${SITE}.evil.example`],
        ['/teasers/unknown', 'https://evil.example'],
      ] as const) {
        const { status, headers } = await preflight(path, origin);
        expect(status).toBe(204);
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
      const response = await world.send(`/teasers/${campaign}`, {
        key: world.acme.key,
        headers: { origin: 'https://evil.example' },
      });
      expect(response.headers['access-control-allow-origin']).toBeUndefined();
      const elsewhere = await preflight(`/outreach/campaign/${campaign}/reward-url`, SITE);
      expect(elsewhere.headers['access-control-allow-origin']).toBeUndefined();
    });

    it('a change of the allowed origins takes effect within seconds', async () => {
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
