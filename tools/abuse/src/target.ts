import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import { ROOT, type TrialFleet } from '@perkway/trials';

/** What an attacker has: the addresses of all processes, and what a client or anybody else is given. */
export interface Target {
  ports: Record<AppName, number[]>;
  /** Of tenant A, who attacks. */
  key: string;
  analyticsToken: string;
  campaign: string;
  smallCollection: string;
  largeCollection: string;
  /** Requests a second of one key in each app. */
  keyLimit: number;
  /** Unknown keys and links of one address in a minute. */
  guessLimit: number;
}

/** The largest of those that the synthetic events belong to. */
const ACCOUNT = 'synthetic-01';
const EVENTS = 150_000;
const PERKS = 125;
const SMALL = 3;

async function seedEvents(fleet: TrialFleet): Promise<void> {
  const seeding = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'tools/seed-events/src/main.ts'), '--events', String(EVENTS)],
    { cwd: ROOT, env: { ...process.env, DATABASE_URL: fleet.database.admin }, stdio: 'ignore' },
  );
  const [code] = (await once(seeding, 'close')) as [number | null];
  if (code !== 0) throw new Error('the events of tenant A could not be made');
}

/** It lasts five minutes, and all attacks together take longer. */
export async function analyticsTokenOf(fleet: TrialFleet, key: string): Promise<string> {
  const issued = await fetch(`${fleet.urls['token-issuer']}/cube/token`, { headers: { 'x-api-key': key } });
  return ((await issued.json()) as { token: string }).token;
}

/** Makes tenant A, with a large collection and many events, so that its answers are large. */
export async function makeTarget(
  fleet: TrialFleet,
  limits: Pick<Target, 'keyLimit' | 'guessLimit'>,
): Promise<Target> {
  await fleet.admin('token-issuer', 'PUT', `/admin/accounts/${ACCOUNT}`, { name: 'Tenant A' });
  const [{ key }] = await Promise.all([
    fleet.admin<{ key: string }>('token-issuer', 'POST', `/admin/accounts/${ACCOUNT}/keys`, { role: 'USER' }),
    seedEvents(fleet),
  ]);
  const ids = Array.from({ length: PERKS }, (_, index) => `hostile-${index}`);
  await fleet.admin('perks', 'PUT', '/admin/categories/2', { slug: 'large', name: 'Large' });
  for (const id of ids) {
    await fleet.admin('perks', 'PUT', `/admin/perks/${id}`, {
      title: `Perk ${id}`,
      description: 'What it is, at length. '.repeat(160),
      callout: '20 % off',
      redemption_note: '',
      details: 'More of it. '.repeat(160),
      offer_url: `https://partner.example/offer/${id}`,
      offer_slug: id,
      partner: { id: 'partner-a', name: 'Partner' },
      categories: [2],
    });
    // The limit is that of this key too.
    await sleep(2 * (1_000 / limits.keyLimit));
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
  const ports = Object.fromEntries(
    Object.entries(fleet.replicas).map(([app, replicas]) => [app, replicas.map(({ port }) => port)]),
  ) as Target['ports'];
  return {
    ports,
    key,
    analyticsToken: await analyticsTokenOf(fleet, key),
    campaign: 'campaign-a',
    smallCollection: 'small-a',
    largeCollection: 'large-a',
    ...limits,
  };
}
