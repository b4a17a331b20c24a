import { setTimeout as sleep } from 'node:timers/promises';
import { APPS } from '@perkway/fleet';
import { ACCOUNT, BROWSER } from './load.js';
import { sendRequest } from './send-request.js';
import type { Replica, TestFleet } from './test-fleet.js';

/** docs/adr/0006-api-keys-in-memory.md */
const REVOKED_WITHIN_MS = 5_000;
/** Requests with a revoked key continue for this long after the time in which it may be accepted. */
const OBSERVED_AFTER_MS = 3_000;
/** Every operation accepts a valid key within this time, also on a busy machine. */
const WARM_LIMIT_MS = 60_000;
/** For requests that are not measured. */
const PREPARED_WITHIN = { timeout: 60_000 };
/** Pause between two requests to one process. */
const PAUSE_MS = 10;
const MAX_ATTEMPTS = 10;

export interface Revocation {
  name: string;
  /** By process: milliseconds from the revocation to the last request that was accepted, or 0 if there was none. */
  last: Record<string, number>;
  breaches: string[];
}

interface KeyedTarget {
  replica: Replica;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Whether this status means that the key was accepted, even if something else was wrong. */
  isAccepted: (status: number) => boolean;
}

const randomAddress = (): string =>
  `10.${Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * 254)).join('.')}`;

interface Document {
  paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
}

/**
 * Lists, for every process, the documented operations that take an API key. Requests have no body: guards check the key
 * before the body and the parameters, so any status but 401 means that the key was accepted.
 */
async function keyedTargets(fleet: TestFleet, key: string): Promise<KeyedTarget[]> {
  const targets: KeyedTarget[] = [];
  for (const app of APPS.filter((each) => each !== 'console')) {
    const { text } = await sendRequest(`${fleet.urls[app]}/docs-json`, {}, PREPARED_WITHIN);
    for (const [path, operations] of Object.entries((JSON.parse(text) as Document).paths))
      for (const [method, { security = [] }] of Object.entries(operations))
        if (security.some((each) => 'apiKey' in each))
          for (const replica of fleet.replicas[app])
            targets.push({
              replica,
              method: method.toUpperCase(),
              path: path.replace(/\{[^}]+\}/g, 'none'),
              headers: { 'x-api-key': key },
              isAccepted: (status) => status !== 401,
            });
  }
  return targets;
}

/** Signs in. Retries, because an overloaded machine may respond 503 for a moment. */
async function signIn(origin: string, key: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const { status, headers, text } = await sendRequest(
      `${origin}/api/session`,
      { method: 'POST', headers: { ...BROWSER, origin }, body: { apiKey: key } },
      PREPARED_WITHIN,
    );
    if (status === 200) return headers['set-cookie']![0]!.split(';')[0]!;
    if (tries === MAX_ATTEMPTS) throw new Error(`signing in returned ${status}: ${text}`);
    await sleep(500);
  }
}

async function sessionTargets(fleet: TestFleet, key: string): Promise<KeyedTarget[]> {
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

/**
 * Creates a key and sends requests with it to every process until `stop`. Resolves when every operation has accepted
 * it.
 */
async function loadWithKey(fleet: TestFleet) {
  const { id, key } = await fleet.admin<{ id: string; key: string }>(
    'token-issuer',
    'POST',
    `/admin/accounts/${ACCOUNT}/keys`,
    { role: 'USER' },
  );
  const targets = [...(await keyedTargets(fleet, key)), ...(await sessionTargets(fleet, key))];
  const lastAccepted = new Map<string, number>();
  const warm = new Set<KeyedTarget>();
  let isOver = false;
  const byReplica = new Map<Replica, KeyedTarget[]>();
  for (const target of targets)
    byReplica.set(target.replica, [...(byReplica.get(target.replica) ?? []), target]);
  const working = [...byReplica].map(async ([replica, targetsOfReplica]) => {
    while (!isOver)
      for (const target of targetsOfReplica) {
        const sentAt = Date.now();
        const response = await sendRequest(replica.url + target.path, {
          method: target.method,
          // The random address avoids limits per address, so a 429 is the rate limit of a key that was accepted.
          headers: { ...target.headers, 'x-forwarded-for': randomAddress() },
        }).catch(() => undefined);
        await sleep(PAUSE_MS);
        if (!response) continue;
        // 503 means that the key could not be checked, so it was not accepted.
        if (response.status === 503 || !target.isAccepted(response.status)) continue;
        warm.add(target);
        lastAccepted.set(`${replica.app}:${replica.port}`, sentAt);
      }
  });
  const stop = async (): Promise<void> => {
    isOver = true;
    await Promise.all(working);
  };
  // A later refusal means that the key is revoked only if the operation has accepted it before.
  for (const deadline = Date.now() + WARM_LIMIT_MS; warm.size < targets.length; await sleep(50))
    if (Date.now() > deadline) {
      await stop();
      const cold = targets.filter((target) => !warm.has(target));
      const names = cold.map(({ replica, method, path }) => `${replica.app} ${method} ${path}`);
      throw new Error(`never accepted a valid key: ${[...new Set(names)].join(', ')}`);
    }
  return {
    id,
    /** By process: milliseconds from `time` to the last request that was accepted. */
    lastSince: (time: number) =>
      Object.fromEntries(
        [...byReplica.keys()].map(({ app, port }) => [
          `${app}:${port}`,
          Math.max(0, (lastAccepted.get(`${app}:${port}`) ?? 0) - time),
        ]),
      ),
    stop,
  };
}

const revoke = async (fleet: TestFleet, id: string): Promise<void> => {
  const [replica] = fleet.replicas['token-issuer'];
  const { status } = await sendRequest(
    `${replica!.url}/admin/accounts/${ACCOUNT}/keys/${id}`,
    { method: 'DELETE', headers: { 'x-api-key': fleet.secrets.adminKey } },
    PREPARED_WITHIN,
  );
  if (status !== 204) throw new Error(`revoking the key returned ${status}`);
};

const breachesOf = (last: Record<string, number>, withinMs: number): string[] =>
  Object.entries(last)
    .filter(([, ms]) => ms > withinMs)
    .map(([process, ms]) => `${process} accepted a revoked key after ${ms} ms`);

/**
 * Revokes a key at one process while all processes use it: once normally, and once while the brokers are down.
 *
 * @param withinMs processes may accept the key for this long
 */
export async function revocations(
  fleet: TestFleet,
  progress: (text: string) => void = () => undefined,
  withinMs = REVOKED_WITHIN_MS,
): Promise<Revocation[]> {
  const found: Revocation[] = [];
  const observedMs = withinMs + OBSERVED_AFTER_MS;

  progress('a key is revoked');
  const load = await loadWithKey(fleet);
  await revoke(fleet, load.id);
  const revokedAt = Date.now();
  await sleep(observedMs);
  await load.stop();
  const last = load.lastSince(revokedAt);
  found.push({
    name: 'a key is revoked',
    last,
    breaches: breachesOf(last, withinMs),
  });

  progress('a key is revoked while the brokers are down');
  const other = await loadWithKey(fleet);
  const brokers = [...fleet.brokers.servers.values()];
  await Promise.all(brokers.map((broker) => broker.kill()));
  await revoke(fleet, other.id);
  const revokedWithoutBrokersAt = Date.now();
  await sleep(observedMs);
  const whileDown = other.lastSince(revokedWithoutBrokersAt);
  await Promise.all(brokers.map((broker) => broker.start()));
  const restartedAt = Date.now();
  await sleep(observedMs);
  await other.stop();
  const afterRestart = other.lastSince(restartedAt);
  found.push({
    name: 'a key is revoked while the brokers are down; measured from their return',
    last: afterRestart,
    breaches: [
      ...breachesOf(afterRestart, withinMs),
      // token-issuer reads its own database, so it needs no broker.
      ...breachesOf(
        Object.fromEntries(
          Object.entries(whileDown).filter(([process]) => process.startsWith('token-issuer')),
        ),
        withinMs,
      ),
    ],
  });
  return found;
}
