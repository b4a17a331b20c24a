import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CampaignViewEvent, IncentiveClickEvent } from '@perkway/domain';
import { closeAll, untilRelayed, waitFor, type LaunchedApp } from '@perkway/testing';
import { BoostWorld } from './boost-world.js';

const ADDRESSES = ['203.0.113.1', '203.0.113.2', '198.51.100.3', '2001:db8::4', '::ffff:192.0.2.5'];
const CAMPAIGNS = ['first', 'second'];
/** Milliseconds within a second, away from its boundaries. */
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
   * For some seconds, loads both pixels of these campaigns from several addresses at both replicas.
   *
   * @returns the distinct (campaign, address, second) triples by arrival time, since a busy machine sends late
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
  /** Creates campaigns that both replicas have in memory, so that a pixel counts in the second of its arrival. */
  const makeKnown = async (names: string[]) => {
    for (const campaign of names) await world.campaign(campaign);
    for (const to of replicas)
      for (const campaign of names)
        await world.send(`/outreach/campaign/${campaign}/tracking-pixel/teaser?disableTracking=1`, { to });
  };
  const countedViews = async (names: string[]) => {
    await untilRelayed(world.database);
    return (await Promise.all(names.map((name) => world.counted<CampaignViewEvent>(name)))).flat();
  };

  it('each (campaign, address, second) triple counts as one view', async () => {
    await makeKnown(CAMPAIGNS);
    const triples = await loadPixels(CAMPAIGNS, 2, () => undefined);
    expect(triples.size).toBeGreaterThanOrEqual(CAMPAIGNS.length * ADDRESSES.length);
    const views = await countedViews(CAMPAIGNS);
    expect(views).toHaveLength(triples.size);
    expect(new Set(views.map(({ type }) => type))).toEqual(new Set(['teaser_view', 'reward_view']));
  });

  it('the same while the broker is killed and restarted', async () => {
    const names = ['third', 'fourth'];
    await makeKnown(names);
    let restarted: Promise<void> | undefined;
    const triples = await loadPixels(names, 4, async (loaded) => {
      if (loaded === 60) await world.nats.kill();
      if (loaded === 130) restarted = world.nats.server.start();
    });
    await restarted;
    expect(await countedViews(names)).toHaveLength(triples.size);
  });

  it('clicks of known perks keep working without Postgres, catalogue and broker', async () => {
    await world.campaign('fifth');
    const path = await world.rewardPath('fifth');
    expect((await world.send(path)).status).toBe(302);
    await world.send('/outreach/campaign/fifth/tracking-pixel/teaser');
    await world.catalogue.close();
    await Promise.all([world.postgres.kill(), world.nats.kill()]);
    try {
      for (let i = 0; i < 60; i += 1) {
        expect((await world.send(path)).headers.location).toBe('https://shop.example/coffee');
        expect((await world.send('/outreach/campaign/fifth/tracking-pixel/reward')).status).toBe(200);
        // The pixel of a campaign that cannot be looked up is an image, too.
        expect((await world.send('/outreach/campaign/never-seen/tracking-pixel/reward')).status).toBe(200);
        await sleep(40);
      }
    } finally {
      await Promise.all([world.postgres.start(), world.nats.server.start()]);
      await world.startCatalogue();
    }
    const clicks = async () =>
      (await world.counted('fifth')).filter((event) => event.type === 'incentive_click');
    await waitFor(async () => (await clicks()).length >= 61, 'all clicks', 60_000);
    await untilRelayed(world.database);
    expect(await clicks()).toHaveLength(61);
  });

  it('a broker that hangs (SIGSTOP) under load does not hang clicks, and each acknowledged one counts once', async () => {
    await world.campaign('sixth');
    const path = await world.rewardPath('sixth');
    for (const to of replicas) expect((await world.send(path, { to })).status).toBe(302);
    const clicks: Promise<void>[] = [];
    await world.nats.pause();
    try {
      for (let i = 0; i < 500; i += 1) {
        clicks.push(
          world.send(path, { to: replicas[i % 2]! }).then(({ status }) => {
            expect(status).toBe(302);
          }),
        );
        await sleep(4);
      }
      // The broker still hangs.
      await Promise.all(clicks);
    } finally {
      world.nats.resume();
    }
    const counted = () => world.counted<IncentiveClickEvent>('sixth');
    await waitFor(async () => (await counted()).length >= 502, 'all clicks', 60_000);
    await untilRelayed(world.database);
    expect(await counted()).toHaveLength(502);
  });
});
