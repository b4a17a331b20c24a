import { BareServer, LoadGenerator } from './children.js';
import type { Contender } from './compare.js';
import type { Fleet } from './fleet.js';
import { residentMiB } from './process-usage.js';
import type { Scenario } from './scenario.js';
import { compareTracked } from './tracked.js';

const ACCOUNT = 'bench-account';
/** Enough to saturate the server rather than the connection. */
const CONNECTIONS = 64;
/**
 * For the large collection. Its unread responses together stay below the limit of 64 MiB, above which the app closes
 * connections of readers that are slow, as all are on a slow machine.
 */
const LARGE_CONNECTIONS = 16;
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
async function prepare(fleet: Fleet, large: number): Promise<string> {
  for (let id = 1; id <= 8; id += 1)
    await fleet.admin('perks', 'PUT', `/admin/categories/${id}`, {
      slug: `category-${id}`,
      name: `Category ${id}`,
    });
  const key = await fleet.account(ACCOUNT);
  for (let index = 0; index < Math.max(50, large); index += 1)
    await fleet.admin('perks', 'PUT', `/admin/perks/perk-${index}`, perk(index));
  await fill(fleet, 'fifty', 50, 5);
  if (large > 0) await fill(fleet, 'large', large, 40);
  return key;
}

/** @param large number of perks of the large collection; it is left out if 0 */
export async function reads(fleet: Fleet, large: number) {
  const key = await prepare(fleet, large);
  const base = `${fleet.urls.perks}/perk-collections`;
  const headers = { 'x-api-key': key };
  const pid = fleet.pid('perks');
  const paths = [
    { name: 'collection of 50', path: '/fifty', connections: CONNECTIONS, target: 0.3, cpuTarget: 0.43 },
    { name: 'one perk', path: '/fifty/perk/perk-7', connections: CONNECTIONS, target: 0.3, cpuTarget: 0.31 },
    ...(large > 0
      ? [{ name: `collection of ${large}`, path: '/large', connections: LARGE_CONNECTIONS, target: 0.3 }]
      : []),
  ];
  const bytes = await Promise.all(
    paths.map(async ({ path }) => {
      const response = await fetch(base + path, { headers });
      if (!response.ok) throw new Error(`${path} returned ${response.status}`);
      return (await response.arrayBuffer()).byteLength;
    }),
  );
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const bare = await BareServer.start(
    ...bytes.map((length, index) => ({ path: `/${index}`, status: 200, headers: json, bytes: length })),
  );
  const contenders = paths.flatMap(({ name, path, connections, ...targets }, index): Contender[] => {
    const ceiling = `bare, ${bytes[index]} bytes`;
    const load = { headers, connections };
    return [
      { name: ceiling, pid: bare.pid, load: { ...load, url: `${bare.url}/${index}` } },
      { name, pid, load: { ...load, url: base + path }, against: { name: ceiling, ...targets } },
    ];
  });
  const growth = () => memory(pid, [`${base}/fifty`, `${base}/fifty/perk/perk-7`], headers);
  return { bare, contenders, growth };
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
  async run(fleet) {
    const { bare, contenders, growth } = await reads(fleet, 2_000);
    try {
      return (await compareTracked(fleet, ['perks'], contenders)) + (await growth());
    } finally {
      bare.stop();
    }
  },
};
