import { BareServer } from './children.js';
import { compare } from './compare.js';
import type { Fleet } from './fleet.js';
import { ACCOUNT, BROWSER, OFFER, onePerk } from './one-perk.js';
import type { Scenario } from './scenario.js';
import { trackedBy } from './tracked.js';

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

async function run(fleet: Fleet): Promise<number> {
  const url = await prepare(fleet);
  // analytics-query would compete with the app under test for CPU. The stream that analytics-query created remains.
  await fleet.halt('analytics-query');
  const bare = await BareServer.start({
    path: '/c',
    status: 302,
    headers: { location: OFFER, 'cache-control': 'no-store' },
    bytes: 0,
  });
  try {
    const load = { headers: BROWSER, connections: CONNECTIONS, expect: [302] };
    const before = await trackedBy(fleet.urls.links);
    let missed = await compare([
      { name: 'bare 302', pid: bare.pid, load: { ...load, url: `${bare.url}/c` } },
      {
        name: 'click_url',
        pid: fleet.pid('links'),
        load: { ...load, url },
        against: { name: 'bare 302', target: 0.3, aim: 0.4 },
      },
    ]);
    const after = await trackedBy(fleet.urls.links);
    process.stdout.write(
      `clicks durable before the response was sent: ${after.durable - before.durable}; not durable: ${after.atRisk}\n`,
    );
    if (after.atRisk > 0) missed += 1;
    return missed;
  } finally {
    bare.stop();
  }
}

export const scenario: Scenario = {
  title: 'Click URLs: a durable click and a redirect, compared with a bare 302 of the same bytes',
  apps: ['token-issuer', 'analytics-query', 'perks', 'links'],
  run,
};
