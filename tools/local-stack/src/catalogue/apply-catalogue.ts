import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Catalogue } from './catalogue.js';
import { CatalogueError } from './catalogue-error.js';
import { checkCatalogue, type OutsideReference } from './check-catalogue.js';
import { differences } from './differences.js';
import { ManagementClient, type Answer } from './management-client.js';
import { planCatalogue, type Call, type ManagedHost, type Stage } from './plan.js';
import { readCatalogue } from './read-catalogue.js';

/** Base URLs by the names of the stack file. */
export type Hosts = Partial<Record<string, string>>;

export interface Outcome {
  what: 'created' | 'changed' | 'unchanged';
  kind: Call['kind'];
  id: string;
  /** Of a trial run. */
  differences: string[];
}

export interface ApplyOptions {
  directory: string;
  /** What belongs to an absent host is left out, if that is allowed. */
  hosts: Hosts;
  needsAllHosts?: boolean;
  /** A key of role ADMIN. */
  adminKey: string;
  /** Looks, and writes nothing. */
  isTrial?: boolean;
  /** Remembers what was applied to which host, so that nothing is sent again. Keep it with the databases' data. */
  stateFile?: string;
  /** `total` counts what there is to do; it is 0, without an outcome, when nothing has changed. */
  onProgress?: (progress: { done: number; total: number; outcome?: Outcome }) => void;
}

export interface Applied {
  accounts: { id: string; userKey: string; collections: string[]; campaigns: string[]; pools: string[] }[];
}

const PARALLEL_CALLS = 8;
const LOOK_TIMEOUT_MS = 15_000;

/**
 * Applies a directory through the management API. Safe to repeat: PUTs are idempotent, an imported key that is there
 * already is fine, codes and cards that are there already are reported by the host and stay as they are.
 *
 * @throws CatalogueError naming file and entity, and what the host said about it; before anything is written for what
 * can be found out before
 */
export async function applyCatalogue(options: ApplyOptions): Promise<Applied> {
  const { hosts, adminKey, directory, isTrial = false, stateFile, onProgress } = options;
  const data = readCatalogue(directory);
  const { problems, outside } = checkCatalogue(data);
  const clients = Object.fromEntries(
    Object.entries(hosts).map(([host, base]) => [host, new ManagementClient(host, base!, adminKey)]),
  ) as Partial<Record<ManagedHost, ManagementClient>>;
  const plan = Object.entries(planCatalogue(data)) as [ManagedHost, Stage[]][];
  if (options.needsAllHosts)
    for (const [host, stages] of plan)
      if (!clients[host] && stages.flat().length > 0)
        problems.push(`${stages.flat()[0]!.what}: no host "${host}" was named`);
  if (problems.length === 0) problems.push(...(await missing(outside, clients)));
  const [first, ...others] = problems;
  if (first !== undefined) throw new CatalogueError([first, ...others]);
  const secrets = [adminKey, ...data.accounts.flatMap((account) => account.user_key ?? [])];

  const applied = await readState(stateFile, hosts, data);
  const todo = plan
    .map(([host, stages]) => ({ host, stages, hash: hashOf(stages) }))
    .filter(({ host, hash }) => clients[host] && applied[host] !== hash);
  const total = todo.flatMap(({ stages }) => stages.flat()).length;
  let done = 0;

  for (const { host, stages, hash } of todo) {
    for (const stage of stages)
      await inParallel(stage, async (call) => {
        const outcome = await (isTrial ? tryCall : makeCall)(clients[host]!, call, secrets);
        done += 1;
        onProgress?.({ done, total, outcome });
      });
    applied[host] = hash;
    if (!isTrial) writeState(stateFile, applied);
  }
  if (total === 0) onProgress?.({ done, total });

  const owned = (host: ManagedHost, entries: { id: string; owner: string }[], owner: string): string[] =>
    hosts[host] ? entries.filter((entry) => entry.owner === owner).map((entry) => entry.id) : [];
  return {
    accounts: data.accounts.map((account) => ({
      id: account.id,
      userKey: account.user_key ?? '',
      collections: owned('perks', data.collections, account.id),
      campaigns: owned('boost', data.campaigns, account.id),
      pools: owned('gift', data.pools, account.id),
    })),
  };
}

const PLACES: Record<OutsideReference['kind'], [ManagedHost, string]> = {
  account: ['token', 'accounts'],
  category: ['perks', 'categories'],
  perk: ['perks', 'perks'],
};

/** What the files name, and neither they nor the hosts have. */
async function missing(
  references: OutsideReference[],
  clients: Partial<Record<ManagedHost, ManagementClient>>,
): Promise<string[]> {
  const problems: string[] = [];
  const known = new Map<string, Promise<boolean>>();
  await inParallel(references, async ({ kind, id, problem }) => {
    const [host, list] = PLACES[kind];
    const client = clients[host];
    const path = `/admin/${list}/${encodeURIComponent(id)}`;
    if (client && !known.has(path))
      known.set(
        path,
        client
          .send(problem, { method: 'GET', path, timeoutMs: LOOK_TIMEOUT_MS })
          .then(({ status }) => status < 300),
      );
    if (!(await known.get(path)))
      problems.push(`${problem}, which is neither in the files nor on the host "${host}"`);
  });
  return problems.sort();
}

async function makeCall(client: ManagementClient, call: Call, secrets: string[]): Promise<Outcome> {
  const before =
    call.method === 'PUT'
      ? await client.send(call.what, { method: 'GET', path: call.look.path, timeoutMs: LOOK_TIMEOUT_MS })
      : undefined;
  const answer = await client.send(call.what, call);
  const outcome = (what: Outcome['what']): Outcome => ({
    what,
    kind: call.kind,
    id: call.id,
    differences: [],
  });
  if (call.kind === 'key' && answer.body['code'] === 'KEY_EXISTS') return outcome('unchanged');
  if (answer.status >= 300) throw refusal(client.host, call, answer, secrets);
  if (before) {
    if (before.status === 404) return outcome('created');
    const isSame =
      before.etag === null ? differences(before.body, answer.body).length === 0 : before.etag === answer.etag;
    return outcome(isSame ? 'unchanged' : 'changed');
  }
  if (call.kind === 'key') return outcome('created');
  const { imported, duplicates, rejected } = answer.body as {
    imported?: number;
    duplicates?: number;
    rejected?: { row: number; reason: string }[];
  };
  if (rejected?.[0])
    throw new CatalogueError([
      `${call.what}: the host "${client.host}" rejected row ${rejected[0].row}: ${rejected[0].reason}`,
    ]);
  if (!imported) return outcome('unchanged');
  return outcome(duplicates ? 'changed' : 'created');
}

/** What a call would do, as far as that can be seen without making it. */
async function tryCall(client: ManagementClient, call: Call, secrets: string[]): Promise<Outcome> {
  const { path, key, count } = call.look;
  const seen = await client.send(call.what, { method: 'GET', path, key, timeoutMs: LOOK_TIMEOUT_MS });
  const outcome = (what: Outcome['what'], found: string[] = []): Outcome => ({
    what,
    kind: call.kind,
    id: call.id,
    differences: found,
  });
  if (key !== undefined) return outcome(seen.status < 300 ? 'unchanged' : 'created');
  if (seen.status === 404 || seen.body['code'] === 'PERK_HAS_NO_CODES') return outcome('created');
  if (seen.status >= 300) throw refusal(client.host, call, seen, secrets);
  if (count === undefined) {
    const found = differences(seen.body, JSON.parse(call.body) as Record<string, unknown>);
    return outcome(found.length > 0 ? 'changed' : 'unchanged', found);
  }
  const loaded = loadedIn(seen.body);
  if (loaded >= count) return outcome('unchanged');
  return outcome(loaded === 0 ? 'created' : 'changed', [`${count} in the file, ${loaded} there`]);
}

/** Codes of a perk, or cards of a pool. */
function loadedIn(body: Record<string, unknown>): number {
  if (typeof body['loaded'] === 'number') return body['loaded'];
  const inventories = (body['inventories'] ?? []) as {
    available: number;
    reserved: number;
    redeemed: number;
  }[];
  return inventories.reduce(
    (sum, { available, reserved, redeemed }) => sum + available + reserved + redeemed,
    0,
  );
}

function refusal(
  host: string,
  call: Call,
  { status, body, text }: Answer,
  secrets: string[],
): CatalogueError {
  const { code, title, detail } = body as { code?: string; title?: string; detail?: string };
  const said = detail ?? title ?? text.slice(0, 200);
  const sentence = `${call.what}: the host "${host}" answered ${status}${code ? ` ${code}` : ''}: ${said}`;
  return new CatalogueError([secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), sentence)]);
}

async function inParallel<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await run(item);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CALLS }, worker));
}

/** Hash of the calls sent to each host. */
type State = Partial<Record<ManagedHost, string>>;

const hashOf = (stages: Stage[]): string => createHash('sha256').update(JSON.stringify(stages)).digest('hex');

/**
 * What was applied before. Believed only while the first key still opens the token host: a database that was
 * emptied or exchanged meanwhile gets everything again.
 */
async function readState(file: string | undefined, hosts: Hosts, data: Catalogue): Promise<State> {
  if (!file || !hosts.token) return {};
  let state: State;
  try {
    state = JSON.parse(readFileSync(file, 'utf8')) as State;
  } catch {
    return {};
  }
  const key = data.accounts[0]?.user_key ?? '';
  const known = await fetch(new URL('/cube/token', hosts.token), {
    headers: { 'X-API-Key': key },
    signal: AbortSignal.timeout(LOOK_TIMEOUT_MS),
  }).then(
    (response) => response.ok,
    () => false,
  );
  return known ? state : {};
}

function writeState(file: string | undefined, state: State): void {
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`);
}
