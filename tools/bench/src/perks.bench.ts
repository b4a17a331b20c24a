import { setTimeout as sleep } from 'node:timers/promises';
import { BareServer, LoadGenerator } from './children.js';
import { compare } from './compare.js';
import type { Fleet } from './fleet.js';
import { residentMiB } from './process-usage.js';
import type { Scenario } from './scenario.js';

const ACCOUNT = 'bench-account';
/** Enough to saturate the server rather than the connection. */
const CONNECTIONS = 64;
const MEMORY_READS = 200_000;
/** Normal heap growth. More than this over so many reads indicates a leak. */
const MEMORY_LIMIT_MIB = 40;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

const perk = (index: number) => ({
  title: `Perk number ${index}: a headline of the usual length`,
  description:
    'Customer-facing body copy that says what the offer is, for whom it is and why it is worth a visit. '.repeat(
      2,
    ),
  callout: '20 % off',
  redemption_note: 'The discount is taken off automatically when you arrive.',
  details: 'Valid until the end of next year, once per customer, not together with other offers.',
  offer_url: `https://partner-${index % 20}.example/offer/${index}`,
  offer_slug: `perk-${index}`,
  ...(index % 5 === 0 ? { coupon: `SAVE${index}` } : {}),
  metadata: 'keywords for the search on the page',
  partner: { id: `partner-${index % 20}`, name: `Partner ${index % 20}` },
  categories: [1 + (index % 8)],
  media: {
    banner: `https://media.example/banner-${index}.jpg`,
    logo: `https://media.example/logo-${index}.svg`,
  },
  locations:
    index % 3 === 0 ? [{ country: 'FR', region: 'Occitanie', city: 'Toulouse' }, { country: 'DE' }] : [],
  translations: { fr: { title: `Offre numéro ${index}` }, de: { title: `Angebot Nummer ${index}` } },
});

async function fill(fleet: Fleet, collection: string, perks: number, groups: number): Promise<void> {
  const inGroup = (group: number) =>
    Array.from({ length: perks }, (_, index) => index).filter((index) => index % groups === group);
  await fleet.admin('perks', 'PUT', `/admin/perk-collections/${collection}`, {
    owner: ACCOUNT,
    groups: Array.from({ length: groups }, (_, group) => ({
      name: `Group ${group}`,
      rank: group,
      perks: inGroup(group).map((index) => ({ id: `perk-${index}`, rank: index })),
    })),
  });
}

/** @returns the account's key */
async function prepare(fleet: Fleet): Promise<string> {
  for (let id = 1; id <= 8; id += 1)
    await fleet.admin('perks', 'PUT', `/admin/categories/${id}`, {
      slug: `category-${id}`,
      name: `Category ${id}`,
    });
  const key = await fleet.account(ACCOUNT);
  for (let index = 0; index < 2_000; index += 1)
    await fleet.admin('perks', 'PUT', `/admin/perks/perk-${index}`, perk(index));
  // The app under test runs without analytics-query, which would compete for CPU. The stream that it created remains.
  await fleet.halt('analytics-query');
  await fill(fleet, 'fifty', 50, 5);
  await fill(fleet, 'two-thousand', 2_000, 40);
  return key;
}

async function run(fleet: Fleet): Promise<number> {
  const key = await prepare(fleet);
  const base = `${fleet.urls.perks}/perk-collections`;
  const headers = { 'x-api-key': key };
  const responseOf = async (path: string) => {
    const response = await fetch(base + path, { headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return (await response.arrayBuffer()).byteLength;
  };
  const paths = { fifty: '/fifty', perk: '/fifty/perk/perk-7', large: '/two-thousand' };
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const bytes = {
    fifty: await responseOf(paths.fifty),
    perk: await responseOf(paths.perk),
    large: await responseOf(paths.large),
  };
  const bare = await BareServer.start(
    ...Object.entries(bytes).map(([name, length]) => ({
      path: `/${name}`,
      status: 200,
      headers: json,
      bytes: length,
    })),
  );
  try {
    const pid = fleet.pid('perks');
    const contender = (name: string, path: string) => ({
      name,
      pid,
      load: { url: base + path, headers, connections: CONNECTIONS },
    });
    const ceiling = (name: string, path: string) => ({
      name,
      pid: bare.pid,
      load: { url: `${bare.url}/${path}`, headers, connections: CONNECTIONS },
    });
    const bare50 = `bare, ${bytes.fifty} bytes`;
    const bare1 = `bare, ${bytes.perk} bytes`;
    const bare2000 = `bare, ${bytes.large} bytes`;
    const before = await views(fleet);
    let missed = await compare([
      ceiling(bare50, 'fifty'),
      { ...contender('collection of 50', paths.fifty), against: { name: bare50, target: 0.3, aim: 0.4 } },
      ceiling(bare1, 'perk'),
      { ...contender('one perk', paths.perk), against: { name: bare1, target: 0.4, aim: 0.5 } },
      ceiling(bare2000, 'large'),
      { ...contender('collection of 2000', paths.large), against: { name: bare2000, target: 0.3 } },
    ]);
    missed += await memory(pid, [base + paths.fifty, base + paths.perk], headers);
    const after = await views(fleet);
    const durable = after.durable - before.durable;
    write(
      `reads with a view that was durable before the response was sent: ${durable}; not durable: ${after.atRisk}`,
    );
    if (after.atRisk > 0) missed += 1;
    return missed;
  } finally {
    bare.stop();
  }
}

/** Returns the number of events handed to the stream or the outbox, and of events sent without either. */
async function views(fleet: Fleet): Promise<{ durable: number; atRisk: number }> {
  // Wait for pending events.
  await sleep(1_000);
  const text = await (await fetch(`${fleet.urls.perks}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name}\\{.*\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return {
    durable: metric('tracking_published_total') + metric('tracking_outboxed_total'),
    atRisk: metric('tracking_at_risk_total'),
  };
}

/** @returns 1 if the memory grew */
async function memory(pid: number, urls: string[], headers: Record<string, string>): Promise<number> {
  const generator = new LoadGenerator();
  try {
    const read = async (requests: number) => {
      for (const url of urls)
        await generator.run({ url, headers, connections: CONNECTIONS, requests: requests / urls.length });
    };
    await read(MEMORY_READS / 5);
    const before = residentMiB(pid);
    await read(MEMORY_READS);
    const after = residentMiB(pid);
    if (before === undefined || after === undefined) return 0;
    const isFlat = after - before < MEMORY_LIMIT_MIB;
    write(
      `resident memory before and after ${MEMORY_READS} reads: ${before.toFixed(0)} MiB, ${after.toFixed(0)} MiB: ` +
        (isFlat ? 'flat' : 'GROWN'),
    );
    return isFlat ? 0 : 1;
  } finally {
    generator.stop();
  }
}

export const scenario: Scenario = {
  title: 'Perk collections: reads with new click URLs and a durable view each, compared with prebuilt bytes',
  apps: ['token-issuer', 'analytics-query', 'perks'],
  run,
};
