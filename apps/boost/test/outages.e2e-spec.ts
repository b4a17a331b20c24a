import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CampaignViewEvent, IncentiveClickEvent } from '@perkway/domain';
import { closeAll, untilRelayed, waitFor, type LaunchedApp } from '@perkway/testing';
import { BoostWorld } from './boost-world.js';

const ADDRESSES = ['203.0.113.1', '203.0.113.2', '198.51.100.3', '2001:db8::4', '::ffff:192.0.2.5'];
const CAMPAIGNS = ['first', 'second'];
/** Within a second, away from its ends. */
const OFFSETS = [150, 300, 450, 600, 750];

describe('outages, with two replicas on one broker', () => {
  const world = new BoostWorld();
  let replicas: LaunchedApp[];
  beforeAll(async () => {
    await world.start({ ownPostgres: true });
    replicas = [world.boost, await world.launch()];
  });
  afterAll(() => closeAll(replicas?.[1], { close: () => world.stop() }));

  /**
   * Loads pixels of both kinds and campaigns from all addresses at both replicas for some seconds.
   *
   * @returns the distinct (campaign, address, second) that arrived; a busy machine sends late
   */
  const loadPixels = async (names: string[], seconds: number, at: (loaded: number) => unknown) => {
    const triples = new Set<string>();
    const arrived = ({ url, headers }: IncomingMessage) =>
      triples.add(`${url!.split('/')[3]} ${headers['x-forwarded-for']} ${Math.floor(Date.now() / 1_000)}`);
    for (const { app } of replicas) app.getHttpServer().prependListener('request', arrived);
    const loads: Promise<void>[] = [];
    let count = 0;
    const start = Math.floor(Date.now() / 1_000) + 1;
    for (let second = start; second < start + seconds; second += 1)
      for (const offset of OFFSETS) {
        await sleep(second * 1_000 + offset - Date.now());
        for (const address of ADDRESSES)
          for (const to of replicas) {
            const campaign = names[Math.floor(count / 2) % names.length]!;
            const kind = count % 3 ? 'teaser' : 'reward';
            loads.push(
              world
                .send(`/outreach/campaign/${campaign}/tracking-pixel/${kind}`, {
                  to,
                  headers: { 'x-forwarded-for': address },
                })
                .then(({ status, body }) => expect([status, body.length]).toEqual([200, 68])),
            );
            count += 1;
          }
        await at(count);
      }
    await Promise.all(loads);
    for (const { app } of replicas) app.getHttpServer().removeListener('request', arrived);
    return triples;
  };
  const countedViews = async (names: string[]) => {
    await untilRelayed(world.database);
    return (await Promise.all(names.map((name) => world.counted<CampaignViewEvent>(name)))).flat();
  };

  test('views are distinct (campaign, address, second) triples', async () => {
    for (const campaign of CAMPAIGNS) await world.campaign(campaign);
    await sleep(1_100);
    const triples = await loadPixels(CAMPAIGNS, 2, () => undefined);
    expect(triples.size).toBeGreaterThanOrEqual(2 * 5 * 2);
    const views = await countedViews(CAMPAIGNS);
    expect(views).toHaveLength(triples.size);
    expect(new Set(views.map(({ type }) => type))).toEqual(new Set(['teaser_view', 'reward_view']));
  });

  test('the same with the broker killed and restarted in the middle', async () => {
    const names = ['third', 'fourth'];
    for (const campaign of names) await world.campaign(campaign);
    for (const to of replicas)
      for (const campaign of names)
        await world.send(`/outreach/campaign/${campaign}/tracking-pixel/teaser?disableTracking=1`, { to });
    await sleep(1_100);
    let restarted: Promise<void> | undefined;
    const triples = await loadPixels(names, 4, async (loaded) => {
      if (loaded === 60) await world.nats.kill();
      if (loaded === 130) restarted = world.nats.server.start();
    });
    await restarted;
    expect(await countedViews(names)).toHaveLength(triples.size);
  });

  test('clicks go on while Postgres, the catalogue and the broker are away, for what was seen', async () => {
    await world.campaign('fifth');
    const path = await world.rewardPath('fifth');
    expect((await world.send(path)).status).toBe(302);
    await world.send('/outreach/campaign/fifth/tracking-pixel/teaser');
    await world.catalogue.close();
    await Promise.all([world.postgres.kill(), world.nats.kill()]);
    const waits: number[] = [];
    try {
      for (let i = 0; i < 60; i += 1) {
        const from = performance.now();
        expect((await world.send(path)).headers.location).toBe('https://shop.example/coffee');
        expect((await world.send('/outreach/campaign/fifth/tracking-pixel/reward')).status).toBe(200);
        // A pixel of a campaign that nobody can look up now is an image all the same.
        expect((await world.send('/outreach/campaign/never-seen/tracking-pixel/reward')).status).toBe(200);
        waits.push(performance.now() - from);
        await sleep(40);
      }
    } finally {
      await Promise.all([world.postgres.start(), world.nats.server.start()]);
      await world.startCatalogue();
    }
    expect(Math.max(...waits)).toBeLessThan(1_500);
    const clicks = async () =>
      (await world.counted('fifth')).filter((event) => event.type === 'incentive_click');
    await waitFor(async () => (await clicks()).length >= 61, 'all clicks', 20_000);
    await untilRelayed(world.database);
    expect(await clicks()).toHaveLength(61);
  }, 60_000);

  test('a broker that hangs (SIGSTOP) under load does not hang clicks, and each answered one counts once', async () => {
    await world.campaign('sixth');
    const path = await world.rewardPath('sixth');
    for (const to of replicas) expect((await world.send(path, { to })).status).toBe(302);
    const waits: number[] = [];
    const clicks: Promise<void>[] = [];
    await world.nats.pause();
    try {
      for (let i = 0; i < 500; i += 1) {
        const from = performance.now();
        clicks.push(
          world.send(path, { to: replicas[i % 2]! }).then(({ status }) => {
            expect(status).toBe(302);
            waits.push(performance.now() - from);
          }),
        );
        await sleep(4);
      }
      await Promise.all(clicks);
    } finally {
      world.nats.resume();
    }
    waits.sort((a, b) => a - b);
    expect(waits[Math.floor(waits.length * 0.99)]).toBeLessThan(500);
    const counted = () => world.counted<IncentiveClickEvent>('sixth');
    await waitFor(async () => (await counted()).length >= 502, 'all clicks', 20_000);
    await untilRelayed(world.database);
    expect(await counted()).toHaveLength(502);
  }, 60_000);
});
