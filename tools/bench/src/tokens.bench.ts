import { BareServer } from './children.js';
import { compare, type Contender } from './compare.js';
import type { Fleet } from './fleet.js';
import type { Scenario } from './scenario.js';

export async function tokens(fleet: Fleet): Promise<{ bare: BareServer; contenders: Contender[] }> {
  const headers = { 'x-api-key': await fleet.account('bench-account') };
  const noStore = { 'cache-control': 'no-store' };
  const bare = await BareServer.start({ path: '/t', status: 200, headers: noStore, bytes: 0, signs: true });
  const load = { headers, connections: 64 };
  return {
    bare,
    contenders: [
      { name: 'bare signature', pid: bare.pid, load: { ...load, url: `${bare.url}/t` } },
      {
        name: 'token',
        pid: fleet.pid('token-issuer'),
        load: { ...load, url: `${fleet.urls['token-issuer']}/cube/token` },
        against: { name: 'bare signature', target: 0.6, cpuTarget: 0.66 },
      },
    ],
  };
}

export const scenario: Scenario = {
  title: 'Analytics tokens: one for each request, compared with a bare server that signs the same claims',
  apps: ['token-issuer'],
  async run(fleet) {
    const { bare, contenders } = await tokens(fleet);
    try {
      return await compare(contenders);
    } finally {
      bare.stop();
    }
  },
};
