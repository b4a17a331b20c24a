import { BareServer } from './children.js';
import type { Contender } from './compare.js';
import type { Fleet } from './fleet.js';
import { ACCOUNT, BROWSER, OFFER, onePerk } from './one-perk.js';
import type { Scenario } from './scenario.js';
import { compareTracked } from './tracked.js';

const CONNECTIONS = 64;

/** @returns the click_url of the only perk of a collection */
async function prepare(fleet: Fleet): Promise<string> {
  const key = await onePerk(fleet);
  await fleet.admin('perks', 'PUT', '/admin/perk-collections/bench', {
    owner: ACCOUNT,
    groups: [{ name: 'All', rank: 1, perks: [{ id: 'one', rank: 1 }] }],
  });
  const response = await fetch(`${fleet.urls.perks}/perk-collections/bench/perk/one`, {
    headers: { 'x-api-key': key },
  });
  return ((await response.json()) as { click_url: string }).click_url;
}

export async function clicks(fleet: Fleet): Promise<{ bare: BareServer; contenders: Contender[] }> {
  const url = await prepare(fleet);
  const bare = await BareServer.start({
    path: '/c',
    status: 302,
    headers: { location: OFFER, 'cache-control': 'no-store' },
    bytes: 0,
  });
  const load = { headers: BROWSER, connections: CONNECTIONS, expect: [302] };
  return {
    bare,
    contenders: [
      { name: 'bare 302', pid: bare.pid, load: { ...load, url: `${bare.url}/c` } },
      {
        name: 'click_url',
        pid: fleet.pid('links'),
        load: { ...load, url },
        against: { name: 'bare 302', target: 0.3, cpuTarget: 0.5 },
      },
    ],
  };
}

export const scenario: Scenario = {
  title: 'Click URLs: a durable click and a redirect, compared with a bare 302 of the same bytes',
  apps: ['token-issuer', 'analytics-query', 'perks', 'links'],
  async run(fleet) {
    const { bare, contenders } = await clicks(fleet);
    try {
      return await compareTracked(fleet, ['links'], contenders);
    } finally {
      bare.stop();
    }
  },
};
