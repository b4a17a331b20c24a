import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inflateSync } from 'node:zlib';
import pg from 'pg';
import { deriveJourneyId, type CampaignViewEvent, type IncentiveClickEvent } from '@perkway/domain';
import { sendAsIs, waitFor } from '@perkway/testing';
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

    test('is a JSON string on the configured host with a token', async () => {
      const { status, headers, text } = await url('?perkId=coffee');
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'application/json; charset=utf-8',
        'no-store',
      ]);
      expect(text).toMatch(/^"https:\/\/boost\.perkway\.test\/outreach\/click\?token=[\w-]+"$/);
    });

    test('the key: header or query, upper case too, the header decides', async () => {
      const { key } = world.acme;
      expect((await url(`?perkId=coffee&api_key=${key}`, '')).status).toBe(200);
      expect((await url('?perkId=coffee', key.toUpperCase())).status).toBe(200);
      expect((await url('?perkId=coffee', '')).status).toBe(401);
      expect((await url(`?perkId=coffee&api_key=${key}`, 'pk_wrong_wrong_wrong_wrong')).status).toBe(401);
    });

    test.each([
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
    ])('reward-url%.40s is %s', async (query, code, status) => {
      world.offers.set('tea', 'https://shop.example/tea');
      const answer = await url(query);
      expect([answer.status, problem(answer).code]).toEqual([status, code]);
    });

    test("an unknown campaign and another account's are the same 404", async () => {
      const unknown = await url('?perkId=coffee', undefined, 'unknown');
      const foreign = await url('?perkId=coffee', world.other.key);
      const admin = await url('?perkId=coffee', world.admin.key);
      for (const answer of [unknown, foreign, admin])
        expect([answer.status, problem(answer).code]).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
    });
  });

  describe('click', () => {
    test('leads to the offer and is counted before the answer', async () => {
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

    test('300 identical clicks are 300', async () => {
      const path = await world.rewardPath(campaign);
      for (let round = 0; round < 10; round += 1)
        await Promise.all(Array.from({ length: 30 }, () => world.send(path)));
      expect(await clicks()).toHaveLength(300);
    });

    test('what was given at generation travels; the click wins', async () => {
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

    test('attribute values and names at their limits, on generation and on the click', async () => {
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

    test('disableTracking at generation holds unless the click says otherwise', async () => {
      const disabled = await world.rewardPath(campaign, 'coffee', '&disableTracking=true');
      expect((await world.send(disabled)).status).toBe(302);
      const path = await world.rewardPath(campaign);
      for (const value of ['true', '1'])
        expect((await world.send(`${path}&disableTracking=${value}`)).status).toBe(302);
      expect(await clicks()).toEqual([]);
      await world.send(`${disabled}&disableTracking=false`);
      expect(await clicks()).toHaveLength(1);
    });

    test('HEAD answers the same headers and records nothing', async () => {
      const path = await world.rewardPath(campaign);
      const { status, headers } = await world.send(path, { method: 'head' });
      expect([status, headers.location]).toEqual([302, 'https://shop.example/coffee']);
      expect(await clicks()).toEqual([]);
    });

    test('no token, a changed one, one of the journey', async () => {
      const path = await world.rewardPath(campaign);
      for (const missing of ['/outreach/click', '/outreach/click?token='])
        expect(await world.send(missing).then((answer) => [answer.status, problem(answer).code])).toEqual([
          400,
          'VALIDATION_FAILED',
        ]);
      const from = path.indexOf('token=') + 'token='.length;
      for (let at = from; at < path.length; at += 3) {
        const other = path[at] === 'A' ? 'B' : 'A';
        const answer = await world.send(path.slice(0, at) + other + path.slice(at + 1));
        expect([answer.status, answer.headers.location, problem(answer).code]).toEqual([
          404,
          undefined,
          'LINK_NOT_FOUND',
        ]);
      }
      expect((await world.send(path.replace('/outreach/click', '/click'))).status).toBe(404);
      expect((await world.send(`${path}&token=x`)).status).toBe(404);
      expect(await clicks()).toEqual([]);
    });

    test('a browser gets a page for a link that leads nowhere', async () => {
      const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      const answer = await world.send('/outreach/click?token=x', { headers });
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(answer.text).toContain('This link does not work');
    });

    test('an edited offer is in force within seconds; a deleted perk and a bad URL lead nowhere', async () => {
      await world.campaign(campaign, ['changing']);
      const path = await world.rewardPath(campaign, 'changing');
      expect((await world.send(path)).headers.location).toBe('https://shop.example/changing');
      // As HEAD it is not counted.
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
    }, 15_000);
  });

  describe('pixels', () => {
    test('are one valid, fully transparent pixel', async () => {
      const answer = await pixel();
      expectImage(answer);
      const bytes = answer.body as Buffer;
      expect(bytes.readUInt32BE(16)).toBe(1);
      expect(bytes.readUInt32BE(20)).toBe(1);
      // 8 bits of each colour and alpha.
      expect([bytes[24], bytes[25]]).toEqual([8, 6]);
      const dataAt = bytes.indexOf('IDAT');
      const data = bytes.subarray(dataAt + 4, dataAt + 4 + bytes.readUInt32BE(dataAt - 4));
      expect([...inflateSync(data)]).toEqual([0, 0, 0, 0, 0]);
    });

    test('a view is counted with its journey, attributes and traffic', async () => {
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

    test('teaser and reward share one view per second and address; campaigns do not', async () => {
      const second = `${campaign}-second`;
      await world.campaign(second);
      await sleep(1_050 - (Date.now() % 1_000));
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          pixel(i % 2 ? 'teaser' : 'reward', '', {}, i % 4 < 2 ? campaign : second),
        ),
      );
      expect(await views()).toHaveLength(1);
      expect(await world.counted(second)).toHaveLength(1);
      await sleep(1_000);
      await pixel();
      expect(await views()).toHaveLength(2);
    });

    test('one address in its many spellings has one budget; the rightmost untrusted hop counts', async () => {
      await sleep(1_050 - (Date.now() % 1_000));
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

    test('a port beside an address, of a customer or a proxy, does not make it another one', async () => {
      await sleep(1_050 - (Date.now() % 1_000));
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

    test('a forged X-Forwarded-For from an untrusted peer changes nothing', async () => {
      const exposed = await world.launch({ TRUSTED_PROXIES: '10.0.0.0/8' });
      try {
        await sleep(1_050 - (Date.now() % 1_000));
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

    test('a customer who hangs up while the campaign is looked up was there all the same', async () => {
      const replica = await world.launch();
      const lock = new pg.Client(world.database.urls.admin);
      await lock.connect();
      try {
        await lock.query('begin; lock table outreach.campaigns');
        const { hostname, port } = new URL(replica.url);
        // A socket of its own, to be torn before the answer.
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

    test('disableTracking and HEAD are answered, not counted, and do not spend the budget', async () => {
      await sleep(1_050 - (Date.now() % 1_000));
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

    test.each(['unknown', 'a%20b', '%zz', '%00', '..', 'x'.repeat(300), 'ü'.normalize(), '%F0%9F%98%80'])(
      'the campaign %s is an image too, and nothing is recorded',
      async (id) => {
        const path = `/outreach/campaign/${encodeURI(id).replaceAll('%25', '%')}/tracking-pixel/reward`;
        const { bytes, ...answer } = await sendAsIs(world.boost, { path });
        expectImage({ ...answer, body: bytes });
      },
    );

    test('a pixel is not sent to', async () => {
      const { status, headers, body } = await world.send(
        `/outreach/campaign/${campaign}/tracking-pixel/teaser`,
        { method: 'post' },
      );
      expect([status, headers.allow, body.code]).toEqual([405, 'GET, HEAD', 'METHOD_NOT_ALLOWED']);
    });

    test('a pixel of another name is none', async () => {
      expect((await pixel('other')).status).toBe(404);
    });
  });

  test('bots, prefetches and people are all redirected and counted', async () => {
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

  test('no key, token or forwarded address is in any log line', async () => {
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
