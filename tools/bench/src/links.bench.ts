import { setTimeout as sleep } from 'node:timers/promises';
import { BareServer, LoadGenerator } from './children.js';
import type { Contender } from './compare.js';
import type { Fleet } from './fleet.js';
import { BROWSER, OFFER, onePerk } from './one-perk.js';
import type { Scenario } from './scenario.js';
import { compareTracked } from './tracked.js';

const CONNECTIONS = 64;
const MAX_P99_WITHOUT_BROKER_MS = 50;

/** @returns the click_url of the only perk of a collection */
async function prepare(fleet: Fleet): Promise<string> {
  const { setup, key } = await onePerk(fleet);
  await setup.putCollection('bench', ['one']);
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
        against: { name: 'bare 302', target: 0.3, cpuTarget: 0.37 },
      },
    ],
  };
}

/** @returns 1 if clicks fail or take too long while events go to the outbox, otherwise 0 */
async function withoutBroker(fleet: Fleet, { load }: Contender): Promise<number> {
  const generator = new LoadGenerator();
  try {
    await fleet.stopBroker();
    // Until the app notices, the first events wait for their acknowledgements.
    await sleep(3_000);
    const { p50, p99, requests, seconds, errors, unexpected } = await generator.run({
      ...load,
      connections: 16,
      seconds: 5,
    });
    const isFine = p99 <= MAX_P99_WITHOUT_BROKER_MS && errors === 0 && Object.keys(unexpected).length === 0;
    process.stdout.write(
      `broker stopped: ${Math.round(requests / seconds)} clicks/s, p50 ${p50} ms, p99 ${p99} ms, ${errors} errors; ` +
        `at most ${MAX_P99_WITHOUT_BROKER_MS} ms: ${isFine ? 'held' : 'MISSED'}\n`,
    );
    return isFine ? 0 : 1;
  } finally {
    generator.stop();
  }
}

export const scenario: Scenario = {
  title: 'Click URLs: a durable click and a redirect, compared with a bare 302 of the same bytes',
  apps: ['token-issuer', 'analytics-query', 'perks', 'links'],
  async run(fleet) {
    const { bare, contenders } = await clicks(fleet);
    try {
      const missed = await compareTracked(fleet, ['links'], contenders);
      return missed + (await withoutBroker(fleet, contenders[1]!));
    } finally {
      bare.stop();
    }
  },
};
