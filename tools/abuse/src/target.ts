import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AppName } from '@perkway/domain';
import { ROOT, type TestFleet } from '@perkway/test-fleet';

/** Everything an attacker knows: the ports of all processes, and what a client or the public gets. */
export interface Target {
  ports: Record<AppName, number[]>;
  /** The key of tenant A, the attacker. */
  key: string;
  /** A JOURNEY key of tenant A, which anybody can read in its page. */
  journeyKey: string;
  analyticsToken: string;
  campaign: string;
  smallCollection: string;
  largeCollection: string;
  /** Path and query of a `click_url`, which anybody may open. */
  clickPath: string;
  /** Requests per second of one key in each app. */
  keyLimit: number;
  /** Unknown keys and links per address and minute. */
  failedAttemptLimit: number;
}

/** The largest account in the synthetic events. */
const ACCOUNT = 'synthetic-01';
const EVENTS = 150_000;
const PERKS = 125;
const SMALL = 3;

async function seedEvents(fleet: TestFleet): Promise<void> {
  const seeding = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'tools/seed-events/src/main.ts'), '--events', String(EVENTS)],
    { cwd: ROOT, env: { ...process.env, DATABASE_URL: fleet.database.admin }, stdio: 'ignore' },
  );
  const [code] = (await once(seeding, 'close')) as [number | null];
  if (code !== 0) throw new Error('could not generate the events of tenant A');
}

/** Gets a new token: one lasts five minutes, and all attacks together take longer. */
export async function analyticsTokenOf(fleet: TestFleet, key: string): Promise<string> {
  const issued = await fetch(`${fleet.urls['token-issuer']}/cube/token`, { headers: { 'x-api-key': key } });
  return ((await issued.json()) as { token: string }).token;
}

/** Creates tenant A with a large collection and many events, so that responses are large. */
export async function makeTarget(
  fleet: TestFleet,
  limits: Pick<Target, 'keyLimit' | 'failedAttemptLimit'>,
): Promise<Target> {
  await fleet.admin('token-issuer', 'PUT', `/admin/accounts/${ACCOUNT}`, { name: 'Tenant A' });
  const makeKey = (role: 'USER' | 'JOURNEY') =>
    fleet.admin<{ key: string }>('token-issuer', 'POST', `/admin/accounts/${ACCOUNT}/keys`, { role });
  const [{ key }, { key: journeyKey }] = await Promise.all([
    makeKey('USER'),
    makeKey('JOURNEY'),
    seedEvents(fleet),
  ]);
  const ids = Array.from({ length: PERKS }, (_, index) => `hostile-${index}`);
  await fleet.admin('perks', 'PUT', '/admin/categories/2', { slug: 'large', name: 'Large' });
  for (const id of ids) {
    await fleet.admin('perks', 'PUT', `/admin/perks/${id}`, {
      title: `Perk ${id}`,
      description: 'A long description. '.repeat(160),
      callout: '20 % off',
      redemption_note: '',
      details: 'More details. '.repeat(160),
      offer_url: `https://partner.example/offer/${id}`,
      offer_slug: id,
      partner: { id: 'partner-a', name: 'Partner' },
      categories: [2],
    });
  }
  for (const [name, perks] of [
    ['small-a', ids.slice(0, SMALL)],
    ['large-a', ids],
  ] as const)
    await fleet.admin('perks', 'PUT', `/admin/perk-collections/${name}`, {
      owner: ACCOUNT,
      groups: [{ name: 'All', rank: 0, perks: perks.map((id, rank) => ({ id, rank })) }],
    });
  await fleet.admin('boost', 'PUT', '/admin/campaigns/campaign-a', {
    owner: ACCOUNT,
    name: 'A',
    incentives: ids.slice(0, SMALL),
  });
  const collection = await fetch(`${fleet.urls.perks}/perk-collections/small-a`, {
    headers: { 'x-api-key': key },
  });
  const clickUrl = /"click_url":"([^"]+)"/.exec(await collection.text())?.[1];
  if (!clickUrl) throw new Error('the collection of tenant A has no click_url');
  const ports = Object.fromEntries(
    Object.entries(fleet.replicas).map(([app, replicas]) => [app, replicas.map(({ port }) => port)]),
  ) as Target['ports'];
  return {
    ports,
    key,
    journeyKey,
    analyticsToken: await analyticsTokenOf(fleet, key),
    campaign: 'campaign-a',
    smallCollection: 'small-a',
    largeCollection: 'large-a',
    clickPath: new URL(clickUrl).pathname,
    ...limits,
  };
}
