import { BareServer } from './children.js';
import type { Contender } from './compare.js';
import type { Fleet } from './fleet.js';
import { BROWSER, OFFER, onePerk } from './one-perk.js';
import type { Scenario } from './scenario.js';
import { compareTracked } from './tracked.js';

const CAMPAIGN = 'bench-campaign';
const CONNECTIONS = 64;

/** @returns a reward URL */
async function prepare(fleet: Fleet): Promise<string> {
  const { setup, key } = await onePerk(fleet);
  await setup.putCampaign(CAMPAIGN, ['one']);
  const path = `/outreach/campaign/${CAMPAIGN}/reward-url?perkId=one&utm_source=bench`;
  const response = await fetch(fleet.urls.boost + path, { headers: { 'x-api-key': key } });
  return (await response.json()) as string;
}

export async function outreach(fleet: Fleet): Promise<{ bare: BareServer; contenders: Contender[] }> {
  const click = await prepare(fleet);
  const pixel = `${fleet.urls.boost}/outreach/campaign/${CAMPAIGN}/tracking-pixel/teaser`;
  const image = await (await fetch(pixel)).arrayBuffer();
  const noStore = { 'cache-control': 'no-store' };
  const bare = await BareServer.start(
    { path: '/click', status: 302, headers: { location: OFFER, ...noStore }, bytes: 0 },
    {
      path: '/pixel',
      status: 200,
      headers: { 'content-type': 'image/png', ...noStore },
      bytes: image.byteLength,
    },
  );
  const pid = fleet.pid('boost');
  const load = { headers: BROWSER, connections: CONNECTIONS };
  return {
    bare,
    contenders: [
      {
        name: 'bare outreach 302',
        pid: bare.pid,
        load: { ...load, url: `${bare.url}/click`, expect: [302] },
      },
      {
        name: 'outreach click',
        pid,
        load: { ...load, url: click, expect: [302] },
        against: { name: 'bare outreach 302', target: 0.3, cpuTarget: 0.32 },
      },
      { name: 'bare pixel', pid: bare.pid, load: { ...load, url: `${bare.url}/pixel` } },
      {
        name: 'pixel',
        pid,
        load: { ...load, url: pixel },
        against: { name: 'bare pixel', target: 0.3, cpuTarget: 0.3 },
      },
    ],
  };
}

export const scenario: Scenario = {
  title: 'Outreach: a durable click and a redirect, and a pixel, against the same bytes from a bare server',
  apps: ['token-issuer', 'analytics-query', 'perks', 'boost'],
  async run(fleet) {
    const { bare, contenders } = await outreach(fleet);
    try {
      return await compareTracked(fleet, ['boost'], contenders);
    } finally {
      bare.stop();
    }
  },
};
