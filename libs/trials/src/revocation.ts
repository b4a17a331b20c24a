import { setTimeout as sleep } from 'node:timers/promises';
import { APPS } from '@perkway/fleet';
import { ACCOUNT, ask } from './load.js';
import type { Replica, TrialFleet } from './trial-fleet.js';

/** docs/adr/0006-api-keys-in-memory.md */
const IN_FORCE_WITHIN_MS = 5_000;
const WATCHED_MS = 8_000;
const BROKERS_AWAY_MS = 8_000;
/** All keys in use are known to every process by then. */
const WARM_MS = 2_500;
/** Between two requests to one process. */
const PAUSE_MS = 10;
const MOST_TRIES = 10;
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' };

export interface Revocation {
  name: string;
  /** By process, milliseconds from what takes the key away to the last answer that took it for valid; 0: none. */
  last: Record<string, number>;
  breaches: string[];
}

interface KeyedSurface {
  replica: Replica;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Whether the key was taken for valid, whatever else was wrong. */
  isAccepted: (status: number) => boolean;
}

const anAddress = (): string =>
  `10.${Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * 254)).join('.')}`;

interface Document {
  paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
}

/**
 * Every operation of every app that a key opens, as its document says, at every process. Nothing is sent with them: guards judge
 * before bodies and parameters are looked at, so whatever is not 401 took the key for valid.
 */
async function keyedSurfaces(fleet: TrialFleet, key: string): Promise<KeyedSurface[]> {
  const surfaces: KeyedSurface[] = [];
  for (const app of APPS.filter((each) => each !== 'console')) {
    const { text } = await ask(`${fleet.urls[app]}/docs-json`);
    for (const [path, operations] of Object.entries((JSON.parse(text) as Document).paths))
      for (const [method, { security = [] }] of Object.entries(operations))
        if (security.some((each) => 'apiKey' in each))
          for (const replica of fleet.replicas[app])
            surfaces.push({
              replica,
              method: method.toUpperCase(),
              path: path.replace(/\{[^}]+\}/g, 'none'),
              headers: { 'x-api-key': key },
              isAccepted: (status) => status !== 401,
            });
  }
  return surfaces;
}

/** A machine with more to do than it can may answer 503 for a moment. */
async function signIn(origin: string, key: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const { status, headers, text } = await ask(`${origin}/api/session`, {
      method: 'POST',
      headers: { ...BROWSER, origin },
      body: { apiKey: key },
    });
    if (status === 200) return headers['set-cookie']![0]!.split(';')[0]!;
    if (tries === MOST_TRIES) throw new Error(`signing in answered ${status}: ${text}`);
    await sleep(500);
  }
}

async function sessionSurfaces(fleet: TrialFleet, key: string): Promise<KeyedSurface[]> {
  const origin = fleet.urls.console;
  const cookie = await signIn(origin, key);
  return fleet.replicas.console.flatMap((replica) =>
    ['/api/session', '/api/gift/pools'].map((path) => ({
      replica,
      method: 'GET',
      path,
      headers: { ...BROWSER, origin, cookie },
      isAccepted: (status: number) => status === 200,
    })),
  );
}

/** A key of the trial account that every process knows, under load until it is stopped. */
async function loadWithKey(fleet: TrialFleet) {
  const { id, key } = await fleet.admin<{ id: string; key: string }>(
    'token-issuer',
    'POST',
    `/admin/accounts/${ACCOUNT}/keys`,
    { role: 'USER' },
  );
  const surfaces = [...(await keyedSurfaces(fleet, key)), ...(await sessionSurfaces(fleet, key))];
  const lastAccepted = new Map<string, number>();
  const statuses = new Map<KeyedSurface, Set<number>>();
  let isOver = false;
  const byReplica = new Map<Replica, KeyedSurface[]>();
  for (const surface of surfaces)
    byReplica.set(surface.replica, [...(byReplica.get(surface.replica) ?? []), surface]);
  const working = [...byReplica].map(async ([replica, of]) => {
    while (!isOver)
      for (const surface of of) {
        const answer = await ask(replica.url + surface.path, {
          method: surface.method,
          // Each from an address of its own: 429 then is the limit of a key that is known.
          headers: { ...surface.headers, 'x-forwarded-for': anAddress() },
        }).catch(() => undefined);
        await sleep(PAUSE_MS);
        if (!answer) continue;
        statuses.set(surface, (statuses.get(surface) ?? new Set()).add(answer.status));
        // What could not be decided let nobody in.
        if (answer.status === 503 || !surface.isAccepted(answer.status)) continue;
        lastAccepted.set(`${replica.app}:${replica.port}`, Date.now());
      }
  });
  return {
    id,
    /** By process: milliseconds since then. */
    lastSince: (time: number) =>
      Object.fromEntries(
        [...byReplica.keys()].map(({ app, port }) => [
          `${app}:${port}`,
          Math.max(0, (lastAccepted.get(`${app}:${port}`) ?? 0) - time),
        ]),
      ),
    /** That never took the key for valid, so that their refusals say nothing. */
    neverAccepted: () =>
      surfaces.filter((surface) => ![...(statuses.get(surface) ?? [])].some(surface.isAccepted)),
    stop: async () => {
      isOver = true;
      await Promise.all(working);
    },
  };
}

const revoke = async (fleet: TrialFleet, id: string): Promise<void> => {
  const [replica] = fleet.replicas['token-issuer'];
  const { status } = await ask(`${replica!.url}/admin/accounts/${ACCOUNT}/keys/${id}`, {
    method: 'DELETE',
    headers: { 'x-api-key': fleet.secrets.adminKey },
  });
  if (status !== 204) throw new Error(`revoking answered ${status}`);
};

const late = (last: Record<string, number>, mayBe = IN_FORCE_WITHIN_MS): string[] =>
  Object.entries(last)
    .filter(([, ms]) => ms > mayBe)
    .map(([process, ms]) => `${process} took a revoked key for valid after ${ms} ms`);

/** Takes a key away at one process while all use it: once as it is, and once while the brokers are away. */
export async function revocations(
  fleet: TrialFleet,
  progress: (text: string) => void = () => undefined,
): Promise<Revocation[]> {
  const found: Revocation[] = [];

  progress('a key is revoked');
  const load = await loadWithKey(fleet);
  await sleep(WARM_MS);
  await revoke(fleet, load.id);
  const revokedAt = Date.now();
  await sleep(WATCHED_MS);
  await load.stop();
  const last = load.lastSince(revokedAt);
  const never = load.neverAccepted().map(({ replica, method, path }) => `${replica.app} ${method} ${path}`);
  found.push({
    name: 'a key is revoked',
    last,
    breaches: [...late(last), ...new Set(never.map((surface) => `${surface} never took the key for valid`))],
  });

  progress('a key is revoked while the brokers are away');
  const other = await loadWithKey(fleet);
  await sleep(WARM_MS);
  const brokers = [...fleet.brokers.servers.values()];
  await Promise.all(brokers.map((broker) => broker.kill()));
  await revoke(fleet, other.id);
  const revokedWithoutBrokersAt = Date.now();
  await sleep(BROKERS_AWAY_MS);
  const ofOwner = other.lastSince(revokedWithoutBrokersAt);
  await Promise.all(brokers.map((broker) => broker.start()));
  const backAt = Date.now();
  await sleep(WATCHED_MS);
  await other.stop();
  const afterwards = other.lastSince(backAt);
  found.push({
    name: 'a key is revoked while the brokers are away, from when they are back',
    last: afterwards,
    breaches: [
      ...late(afterwards),
      // It asks its own database.
      ...late(
        Object.fromEntries(Object.entries(ofOwner).filter(([process]) => process.startsWith('token-issuer'))),
      ),
    ],
  });
  return found;
}
