import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AppName } from '@perkway/domain';
import { AccountSetup, ROOT, type TestFleet } from '@perkway/test-fleet';

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
  const setup = new AccountSetup(fleet.admin, ACCOUNT);
  const { key } = await setup.aKey();
  const [{ key: journeyKey }] = await Promise.all([setup.aKey('JOURNEY'), seedEvents(fleet)]);
  const ids = Array.from({ length: PERKS }, (_, index) => `hostile-${index}`);
  const small = ids.slice(0, SMALL);
  await setup.putPerks(ids, {
    description: 'A long description. '.repeat(160),
    details: 'More details. '.repeat(160),
  });
  await setup.putCollection('small-a', small);
  await setup.putCollection('large-a', ids);
  await setup.putCampaign('campaign-a', small);
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
