import { setTimeout as sleep } from 'node:timers/promises';
import type { CampaignViewEvent, IncentiveClickEvent } from '@perkway/domain';
import { closeAll, stopClock, waitFor, type LaunchedApp } from '@perkway/testing';
import { BoostWorld } from './boost-world.js';

const ADDRESSES = ['203.0.113.1', '203.0.113.2', '198.51.100.3', '2001:db8::4', '::ffff:192.0.2.5'];
const CAMPAIGNS = ['first', 'second'];
const KINDS = ['teaser', 'reward'];

describe('outages, with two replicas on one broker', () => {
  const world = new BoostWorld();
  let replicas: LaunchedApp[];
  beforeAll(async () => {
    await world.start({ ownPostgres: true });
    replicas = [world.boost, await world.launch()];
  });
  afterAll(() => closeAll(replicas?.[1], { close: () => world.stop() }));

  /**
   * Loads both pixels of these campaigns from several addresses at both replicas at once, in each of some seconds. The clock
   * is the test's own, because on a busy machine a pixel may be counted in the second after that of its arrival.
   */
  const loadPixels = async (names: string[], seconds: number, before: (second: number) => unknown) => {
    const clock = stopClock();
    try {
      for (let second = 1; second <= seconds; second += 1) {
        await before(second);
        clock.advance(1_000);
        for (const kind of second % 2 ? KINDS : KINDS.toReversed())
          await Promise.all(
            names.flatMap((name) =>
              ADDRESSES.flatMap((address) =>
                replicas.map(async (to) => {
                  const path = `/outreach/campaign/${name}/tracking-pixel/${kind}`;
                  const headers = { 'x-forwarded-for': address };
                  const { status, body } = await world.send(path, { to, headers });
                  expect([status, body.length]).toEqual([200, 68]);
                }),
              ),
            ),
          );
      }
    } finally {
      jest.restoreAllMocks();
    }
  };
  /** Creates a campaign as soon as Boost, accounts and the catalogue are connected to a restarted broker again. */
  const makeCampaign = (name: string) =>
    waitFor(async () => {
      await world.campaign(name);
      await world.rewardPath(name);
    }, 'the connections to the broker');
  /** Creates campaigns that both replicas have in memory, so that a pixel counts in the second of its arrival. */
  const makeKnown = async (names: string[]) => {
    for (const campaign of names) await makeCampaign(campaign);
    for (const to of replicas)
      for (const campaign of names)
        await world.send(`/outreach/campaign/${campaign}/tracking-pixel/teaser?disableTracking=1`, { to });
  };
  const countedViews = async (names: string[]) => {
    return (await Promise.all(names.map((name) => world.counted<CampaignViewEvent>(name)))).flat();
  };

  it('each (campaign, address, second) triple counts as one view', async () => {
    await makeKnown(CAMPAIGNS);
    await loadPixels(CAMPAIGNS, 2, () => undefined);
    const views = await countedViews(CAMPAIGNS);
    expect(views).toHaveLength(CAMPAIGNS.length * ADDRESSES.length * 2);
    expect(new Set(views.map(({ type }) => type))).toEqual(new Set(['teaser_view', 'reward_view']));
  });

  it('each (campaign, address, second) triple is one view while the broker is killed and restarted', async () => {
    const names = ['third', 'fourth'];
    await makeKnown(names);
    let restarted: Promise<void> | undefined;
    await loadPixels(names, 4, async (second) => {
      if (second === 2) await world.nats.kill();
      if (second === 4) restarted = world.nats.server.start();
    });
    await restarted;
    expect(await countedViews(names)).toHaveLength(names.length * ADDRESSES.length * 4);
  });

  it('clicks of known perks keep working without Postgres, catalogue and broker', async () => {
    await makeCampaign('fifth');
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
    expect(await clicks()).toHaveLength(61);
  });

  it('a broker that hangs (SIGSTOP) under load does not hang clicks, and each acknowledged one counts once', async () => {
    await makeCampaign('sixth');
    const path = await world.rewardPath('sixth');
    for (const to of replicas)
      await waitFor(async () => expect((await world.send(path, { to })).status).toBe(302), 'a click');
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
    expect(await counted()).toHaveLength(502);
  });
});
