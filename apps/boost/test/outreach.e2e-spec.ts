import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { inflateSync } from 'node:zlib';
import pg from 'pg';
import { deriveJourneyId, type CampaignViewEvent, type IncentiveClickEvent } from '@perkway/domain';
import { sendAsIs, stopClock, waitFor } from '@perkway/testing';
import type { Response } from 'supertest';
import { BoostWorld, CHROME } from './boost-world.js';

describe('outreach', () => {
  const world = new BoostWorld();
  let campaigns = 0;
  let campaign: string;
  beforeAll(() => world.start());
  afterAll(() => world.stop());
  beforeEach(async () => {
    campaign = `campaign-${++campaigns}`;
    await world.campaign(campaign);
  });
  afterEach(() => jest.restoreAllMocks());

  const problem = ({ body }: Response) => body as { code: string; detail: string };
  const clicks = () => world.counted<IncentiveClickEvent>(campaign);
  const views = () => world.counted<CampaignViewEvent>(campaign);
  const onlyClick = async () => {
    const [click, ...more] = await clicks();
    expect(more).toEqual([]);
    return click!;
  };
  const pixel = (kind = 'teaser', query = '', headers = {}, of = campaign) =>
    world.send(`/outreach/campaign/${of}/tracking-pixel/${kind}${query}`, { headers });
  const expectImage = ({
    status,
    headers,
    body: bytes,
  }: {
    status: number;
    headers: IncomingHttpHeaders;
    body: Buffer;
  }) => {
    expect([status, headers['content-type'], headers['cache-control'], headers['content-length']]).toEqual([
      200,
      'image/png',
      'no-store',
      String(bytes.length),
    ]);
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  };

  describe('reward URL', () => {
    const url = (query: string, key: string | undefined = world.acme.key, of = campaign) =>
      world.send(`/outreach/campaign/${of}/reward-url${query}`, key ? { key } : {});

    it('is a JSON string on the configured host with a token', async () => {
      const { status, headers, text } = await url('?perkId=coffee');
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'application/json; charset=utf-8',
        'no-store',
      ]);
      expect(text).toMatch(/^"https:\/\/boost\.perkway\.test\/outreach\/click\?token=[\w-]+"$/);
    });

    it('accepts the key in header or query, in upper case, too; the header takes precedence', async () => {
      const { key } = world.acme;
      expect((await url(`?perkId=coffee&api_key=${key}`, '')).status).toBe(200);
      expect((await url('?perkId=coffee', key.toUpperCase())).status).toBe(200);
      expect((await url('?perkId=coffee', '')).status).toBe(401);
      expect((await url(`?perkId=coffee&api_key=${key}`, 'pk_wrong_wrong_wrong_wrong')).status).toBe(401);
    });

    it.each([
      ['', 'VALIDATION_FAILED', 400],
      ['?perkId=', 'VALIDATION_FAILED', 400],
      ['?perkId=a%20b', 'VALIDATION_FAILED', 400],
      ['?perkId=tea', 'PERK_IS_NOT_IN_CAMPAIGN', 400],
      ['?perkId=never-existed', 'PERK_IS_NOT_IN_CAMPAIGN', 400],
      [
        `?perkId=coffee&cmeta_a=${'x'.repeat(254)}&${Array.from({ length: 40 }, (_, i) => `cmeta_b${i}=${'x'.repeat(250)}`).join('&')}`,
        'VALIDATION_FAILED',
        400,
      ],
    ])('reward-url%.40s returns %s', async (query, code, status) => {
      world.offers.set('tea', 'https://shop.example/tea');
      const response = await url(query);
      expect([response.status, problem(response).code]).toEqual([status, code]);
    });

    it('a deleted perk drops out of its campaigns within seconds', async () => {
      world.offers.set('short-lived', 'https://shop.example/x');
      await world.campaign(campaign, ['short-lived']);
      expect((await url('?perkId=short-lived')).status).toBe(200);
      world.offers.delete('short-lived');
      await waitFor(async () => {
        const response = await url('?perkId=short-lived');
        expect([response.status, problem(response).code]).toEqual([400, 'PERK_IS_NOT_IN_CAMPAIGN']);
      }, 'the error');
    });

    it("an unknown campaign and another account's campaign return the same 404", async () => {
      const unknown = await url('?perkId=coffee', undefined, 'unknown');
      const foreign = await url('?perkId=coffee', world.other.key);
      const admin = await url('?perkId=coffee', world.admin.key);
      for (const response of [unknown, foreign, admin])
        expect([response.status, problem(response).code]).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
    });
  });

  describe('click', () => {
    it('redirects to the offer and is durable before the response', async () => {
      const { status, headers, text } = await world.send(await world.rewardPath(campaign));
      expect([status, headers.location, headers['cache-control'], text]).toEqual([
        302,
        'https://shop.example/coffee',
        'no-store',
        '',
      ]);
      expect(await onlyClick()).toEqual({
        v: 1,
        type: 'incentive_click',
        id: expect.stringMatching(/^[\w-]{22}$/),
        account: 'acme',
        at: expect.any(Number),
        campaign,
        journey: deriveJourneyId(campaign),
        channel: 'outreach',
        perk: 'coffee',
        traffic: { class: 'human', reason: 'none' },
      });
    });

    it('counts 300 times for 300 identical clicks', async () => {
      const path = await world.rewardPath(campaign);
      for (let round = 0; round < 10; round += 1)
        await Promise.all(Array.from({ length: 30 }, () => world.send(path)));
      expect(await clicks()).toHaveLength(300);
    });

    it('carries the parameters of the reward URL, which its own parameters override', async () => {
      const carried = '&cmeta_a=1&cmeta_b=2&utm_source=gen&journeyId=j-gen';
      const path = await world.rewardPath(campaign, 'coffee', carried);
      await world.send(path);
      expect(await onlyClick()).toMatchObject({
        journey: 'j-gen',
        cmeta: { a: '1', b: '2' },
        utm: { utm_source: 'gen' },
      });
      await world.send(`${path}&cmeta_b=own&utm_source=own&utm_medium=mail&journeyId=j-own`);
      expect((await clicks())[1]).toMatchObject({
        journey: 'j-own',
        cmeta: { a: '1', b: 'own' },
        utm: { utm_source: 'own', utm_medium: 'mail' },
      });
      await world.send(`${path}&journeyId=${'j'.repeat(256)}`);
      expect((await clicks())[2]).toMatchObject({ journey: 'j-gen' });
    });

    it('limits attribute values and names in the reward URL and on the click', async () => {
      const query = new URLSearchParams([
        ['cmeta_254', 'x'.repeat(254)],
        ['cmeta_255', 'x'.repeat(255)],
        ['cmeta_emoji', '😀'.repeat(254)],
        ['cmeta_bad name', 'x'],
        ['cmeta_', 'x'],
        ['cmeta___proto__', 'name'],
        ['cmeta_utm_source', 'mine'],
        ['utm_source', 'theirs'],
        ['cmeta_nul', 'a\0b'],
        ['cmeta_größe', 'x'],
      ]).toString();
      const expected = [
        ['254', 'x'.repeat(254)],
        ['emoji', '😀'.repeat(254)],
        ['__proto__', 'name'],
        ['utm_source', 'mine'],
      ].sort();
      const path = await world.rewardPath(campaign, 'coffee', `&${query}`);
      expect((await world.send(path)).status).toBe(302);
      expect((await world.send(`${await world.rewardPath(campaign)}&${query}`)).status).toBe(302);
      const counted = await clicks();
      expect(counted).toHaveLength(2);
      for (const { cmeta, utm } of counted) {
        expect(Object.entries(cmeta!).sort()).toEqual(expected);
        expect(utm).toEqual({ utm_source: 'theirs' });
      }
    });

    it('keeps disableTracking of the reward URL unless it says otherwise', async () => {
      const disabled = await world.rewardPath(campaign, 'coffee', '&disableTracking=true');
      expect((await world.send(disabled)).status).toBe(302);
      const path = await world.rewardPath(campaign);
      for (const value of ['true', '1'])
        expect((await world.send(`${path}&disableTracking=${value}`)).status).toBe(302);
      expect(await clicks()).toEqual([]);
      await world.send(`${disabled}&disableTracking=false`);
      expect(await clicks()).toHaveLength(1);
    });

    it('HEAD returns the same headers and records nothing', async () => {
      const path = await world.rewardPath(campaign);
      const { status, headers } = await world.send(path, { method: 'head' });
      expect([status, headers.location]).toEqual([302, 'https://shop.example/coffee']);
      expect(await clicks()).toEqual([]);
    });

    it('rejects a missing token, a modified one and one of the journey', async () => {
      const path = await world.rewardPath(campaign);
      for (const missing of ['/outreach/click', '/outreach/click?token='])
        expect(
          await world.send(missing).then((response) => [response.status, problem(response).code]),
        ).toEqual([400, 'VALIDATION_FAILED']);
      const from = path.indexOf('token=') + 'token='.length;
      for (let at = from; at < path.length; at += 3) {
        const other = path[at] === 'A' ? 'B' : 'A';
        const response = await world.send(path.slice(0, at) + other + path.slice(at + 1));
        expect([response.status, response.headers.location, problem(response).code]).toEqual([
          404,
          undefined,
          'LINK_NOT_FOUND',
        ]);
      }
      expect((await world.send(path.replace('/outreach/click', '/click'))).status).toBe(404);
      expect((await world.send(`${path}&token=x`)).status).toBe(404);
      expect(await clicks()).toEqual([]);
    });

    it('shows a browser a page for a dead link', async () => {
      const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      const response = await world.send('/outreach/click?token=x', { headers });
      expect([response.status, response.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(response.text).toContain('This link does not work');
    });

    it('follows an edited offer within seconds; a deleted perk or invalid URL is not found', async () => {
      await world.campaign(campaign, ['changing']);
      const path = await world.rewardPath(campaign, 'changing');
      expect((await world.send(path)).headers.location).toBe('https://shop.example/changing');
      // HEAD does not count as a click.
      const becomes = (what: string, expected: object) =>
        waitFor(async () => expect(await world.send(path, { method: 'head' })).toMatchObject(expected), what);
      world.offers.set('changing', 'https://shop.example/new?a=%20#b');
      await becomes('the new offer', { headers: { location: 'https://shop.example/new?a=%20#b' } });
      expect((await world.send(path)).headers.location).toBe('https://shop.example/new?a=%20#b');
      world.offers.set('changing', 'https://user:secret@shop.example/');
      await becomes('404 for a bad URL', { status: 404 });
      expect((await world.send(path)).status).toBe(404);
      world.offers.delete('changing');
      await waitFor(async () => {
        const gone = await world.send(path);
        expect([gone.status, problem(gone).code]).toEqual([404, 'PERK_NOT_FOUND']);
      }, '404 for a deleted perk');
      expect(await clicks()).toHaveLength(2);
    });
  });

  describe('pixels', () => {
    it('are one valid, fully transparent pixel', async () => {
      const response = await pixel();
      expectImage(response);
      const bytes = response.body as Buffer;
      expect(bytes.readUInt32BE(16)).toBe(1);
      expect(bytes.readUInt32BE(20)).toBe(1);
      // 8 bits per channel, RGB with alpha.
      expect([bytes[24], bytes[25]]).toEqual([8, 6]);
      const dataAt = bytes.indexOf('IDAT');
      const data = bytes.subarray(dataAt + 4, dataAt + 4 + bytes.readUInt32BE(dataAt - 4));
      expect([...inflateSync(data)]).toEqual([0, 0, 0, 0, 0]);
    });

    it('count a view with its journey, attributes and traffic class', async () => {
      await pixel('reward', '?journeyId=r-1&cmeta_user=7&utm_source=mail', {
        'user-agent':
          'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
      });
      const [view, ...more] = await views();
      expect(more).toEqual([]);
      expect(view).toEqual({
        v: 1,
        type: 'reward_view',
        id: expect.stringMatching(/^[\w-]{24}$/),
        account: 'acme',
        at: expect.any(Number),
        campaign,
        journey: 'r-1',
        channel: 'outreach',
        utm: { utm_source: 'mail' },
        cmeta: { user: '7' },
        traffic: { class: 'mail_proxy', reason: 'user-agent:google-image-proxy' },
      });
      expect(view!.at % 1_000).toBe(0);
    });

    it('count one view per second and address for teaser and reward together, but per campaign', async () => {
      const second = `${campaign}-second`;
      await world.campaign(second);
      const clock = stopClock();
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          pixel(i % 2 ? 'teaser' : 'reward', '', {}, i % 4 < 2 ? campaign : second),
        ),
      );
      expect(await views()).toHaveLength(1);
      expect(await world.counted(second)).toHaveLength(1);
      clock.advance(1_000);
      await pixel();
      expect(await views()).toHaveLength(2);
    });

    it('treat all spellings of an address as one; the rightmost untrusted hop is the source', async () => {
      stopClock();
      for (const forwarded of [
        '203.0.113.9',
        '::ffff:203.0.113.9',
        '1.2.3.4, 203.0.113.9',
        '5.6.7.8, 203.0.113.9, 127.0.0.1',
      ])
        await pixel('teaser', '', { 'x-forwarded-for': forwarded });
      expect(await views()).toHaveLength(1);
      for (const forwarded of ['2001:db8::1', '2001:0db8:0:0:0:0:0:1', '2001:DB8::1'])
        await pixel('teaser', '', { 'x-forwarded-for': forwarded });
      expect(await views()).toHaveLength(2);
    });

    it('count an IPv6 network (/64) as one source, and each IPv4 address separately, mapped or not', async () => {
      stopClock();
      const from = (forwarded: string) => pixel('teaser', '', { 'x-forwarded-for': forwarded });
      for (let i = 1; i <= 20; i += 1) await from(`2001:db8:1:2:${i.toString(16)}:ff::${i}`);
      expect(await views()).toHaveLength(1);
      await from('2001:db8:1:3::1');
      expect(await views()).toHaveLength(2);
      for (const address of ['198.51.100.1', '::ffff:198.51.100.2', '::ffff:c633:6403', '198.51.100.2'])
        await from(address);
      expect(await views()).toHaveLength(5);
    });

    it('ignore a port after an address, of a customer or a proxy', async () => {
      stopClock();
      for (const forwarded of [
        '203.0.113.7',
        '203.0.113.7:1111',
        '1.2.3.4, 203.0.113.7:2222, 127.0.0.1:3333',
        '[2001:db8::7]',
        '[2001:db8::7]:1111',
      ])
        await pixel('teaser', '', { 'x-forwarded-for': forwarded });
      expect(await views()).toHaveLength(2);
    });

    it('ignore X-Forwarded-For from an untrusted peer', async () => {
      const exposed = await world.launch({ TRUSTED_PROXIES: '10.0.0.0/8' });
      try {
        stopClock();
        for (let i = 0; i < 10; i += 1)
          await world.send(`/outreach/campaign/${campaign}/tracking-pixel/teaser`, {
            to: exposed,
            headers: { 'x-forwarded-for': `203.0.113.${i}` },
          });
        expect(await views()).toHaveLength(1);
      } finally {
        await exposed.close();
      }
    });

    it('count a view although the customer hangs up while the campaign is looked up', async () => {
      const replica = await world.launch();
      const lock = new pg.Client(world.database.urls.admin);
      await lock.connect();
      try {
        await lock.query('begin; lock table outreach.campaigns');
        const { hostname, port } = new URL(replica.url);
        // A raw socket, closed before the response.
        const socket = connect(Number(port), hostname);
        const arrival = once(replica.app.getHttpServer(), 'request') as Promise<[IncomingMessage]>;
        socket.write(
          `GET /outreach/campaign/${campaign}/tracking-pixel/teaser HTTP/1.1\r\nhost: boost\r\n\r\n`,
        );
        const [arrived] = await arrival;
        socket.destroy();
        if (!arrived.closed) await new Promise((resolve) => arrived.once('close', resolve));
        await lock.query('commit');
        await waitFor(async () => expect(await views()).toHaveLength(1), 'the view');
      } finally {
        await lock.end();
        await replica.close();
      }
    });

    it("respond to disableTracking and HEAD without counting, and keep the second's view available", async () => {
      stopClock();
      expectImage(await pixel('teaser', '?disableTracking=true'));
      const head = await world.send(`/outreach/campaign/${campaign}/tracking-pixel/teaser`, {
        method: 'head',
      });
      expect([head.status, head.headers['content-type'], head.headers['content-length']]).toEqual([
        200,
        'image/png',
        '68',
      ]);
      expect(await views()).toEqual([]);
      await pixel();
      expect(await views()).toHaveLength(1);
    });

    it.each(['unknown', 'a%20b', '%zz', '%00', '..', 'x'.repeat(300), 'ü'.normalize(), '%F0%9F%98%80'])(
      'are an image for the campaign %s, too, and record nothing',
      async (id) => {
        const path = `/outreach/campaign/${encodeURI(id).replaceAll('%25', '%')}/tracking-pixel/reward`;
        const { bytes, ...response } = await sendAsIs(world.boost, { path });
        expectImage({ ...response, body: bytes });
      },
    );

    it('reject other methods', async () => {
      const { status, headers, body } = await world.send(
        `/outreach/campaign/${campaign}/tracking-pixel/teaser`,
        { method: 'post' },
      );
      expect([status, headers.allow, body.code]).toEqual([405, 'GET, HEAD', 'METHOD_NOT_ALLOWED']);
    });

    it('are not found under another name', async () => {
      expect((await pixel('other')).status).toBe(404);
    });
  });

  it('bots, prefetches and people are all redirected and counted', async () => {
    const path = await world.rewardPath(campaign);
    const kinds: Record<string, string>[] = [
      { 'user-agent': 'curl/8.5.0' },
      { 'user-agent': CHROME, purpose: 'prefetch' },
      { 'user-agent': 'Barracuda Sentinel (EE)' },
      { 'user-agent': CHROME },
    ];
    for (const headers of kinds) expect((await world.send(path, { headers })).status).toBe(302);
    expect((await clicks()).map(({ traffic }) => traffic!.class)).toEqual([
      'bot',
      'prefetch',
      'mail_proxy',
      'human',
    ]);
  });

  it('keys, tokens and forwarded addresses appear in no log line', async () => {
    const path = await world.rewardPath(campaign);
    await world.send(path);
    await world.send(`${path}x`);
    await world.send(`/outreach/campaign/nope/reward-url?perkId=coffee&api_key=${world.acme.key}`);
    await pixel('teaser', '', { 'x-forwarded-for': '198.51.100.77' });
    const token = path.slice(path.indexOf('token=') + 6);
    expect(world.boost.logs.length).toBeGreaterThan(0);
    for (const line of world.boost.logs)
      for (const secret of [token.slice(0, 30), world.acme.key, '198.51.100.77'])
        expect(line).not.toContain(secret);
  });
});
