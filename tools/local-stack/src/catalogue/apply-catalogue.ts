import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import {
  checkCatalogue,
  differences,
  problemLine,
  type Catalogue,
  type Difference,
  type OutsideReference,
} from '@perkway/catalogue';

import { CatalogueError } from './catalogue-error.js';
import { ManagementClient, type HttpResponse } from './management-client.js';
import { planCatalogue, type Call, type ManagedHost, type Stage } from './plan.js';
import { readCatalogue } from './read-catalogue.js';

/** Base URLs by host name in the stack file. */
export type Hosts = Partial<Record<string, string>>;

export interface Outcome {
  what: 'created' | 'changed' | 'unchanged';
  kind: Call['kind'];
  id: string;
  /** Filled by a dry run. */
  differences: string[];
}

export interface ApplyOptions {
  directory: string;
  /** Resources of a missing host are skipped, unless `needsAllHosts` is set. */
  hosts: Hosts;
  needsAllHosts?: boolean;
  /** A key with role ADMIN. */
  adminKey: string;
  /** Dry run: reads, and writes nothing. */
  isDryRun?: boolean;
  /** Records what was applied to each host, so that it is not sent again. Keep it with the data of the databases. */
  stateFile?: string;
  /** `total` is the number of calls to make. If `stateFile` records all of them, it is 0, and there is no outcome. */
  onProgress?: (progress: { done: number; total: number; outcome?: Outcome }) => void;
}

export interface Applied {
  accounts: { id: string; userKey: string; collections: string[]; campaigns: string[]; pools: string[] }[];
}

const PARALLEL_CALLS = 8;
const READ_TIMEOUT_MS = 15_000;
const MAX_VALUE_LENGTH = 60;

/**
 * Applies a directory through the management API. It is safe to repeat: PUTs are idempotent, existing imported keys are
 * accepted, and hosts keep existing codes and cards and report them.
 *
 * @throws CatalogueError with the file, the resource and the host's response. Problems that can be found beforehand are
 * reported before anything is written.
 */
export async function applyCatalogue(options: ApplyOptions): Promise<Applied> {
  const { hosts, adminKey, directory, isDryRun = false, stateFile, onProgress } = options;
  const data = readCatalogue(directory);
  const { problems: found, outside } = checkCatalogue(data);
  const problems = found.map(problemLine);
  const clients = Object.fromEntries(
    Object.entries(hosts).map(([host, base]) => [host, new ManagementClient(host, base!, adminKey)]),
  ) as Partial<Record<ManagedHost, ManagementClient>>;
  const plan = Object.entries(planCatalogue(data)) as [ManagedHost, Stage[]][];
  if (options.needsAllHosts)
    for (const [host, stages] of plan)
      if (!clients[host] && stages.flat().length > 0)
        problems.push(`${stages.flat()[0]!.what}: no URL was given for the host "${host}"`);
  try {
    problems.push(...(await missing(outside, clients)));
  } catch (error) {
    // A host that does not respond must not hide problems in the files.
    if (problems.length === 0) throw error;
  }
  const [first, ...others] = problems;
  if (first !== undefined) throw new CatalogueError([first, ...others]);
  const secrets = [adminKey, ...data.accounts.flatMap((account) => account.user_key ?? [])];

  const applied = await readState(stateFile, clients.token, data);
  const todo = plan
    .map(([host, stages]) => ({ host, stages, hash: hashOf(stages) }))
    .filter(({ host, hash }) => clients[host] && applied[host] !== hash);
  const total = todo.flatMap(({ stages }) => stages.flat()).length;
  let done = 0;

  for (const { host, stages, hash } of todo) {
    for (const stage of stages)
      await inParallel(stage, async (call) => {
        const outcome = await (isDryRun ? tryCall : makeCall)(clients[host]!, call, secrets);
        done += 1;
        onProgress?.({ done, total, outcome });
      });
    applied[host] = hash;
    if (!isDryRun) writeState(stateFile, applied);
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

/** Returns problems for references that neither the files nor the hosts have. */
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
          .send(problemLine(problem), { method: 'GET', path, timeoutMs: READ_TIMEOUT_MS })
          .then(({ status }) => status < 300),
      );
    if (!(await known.get(path)))
      problems.push(`${problemLine(problem)}, which is neither in the files nor on the host "${host}"`);
  });
  return problems.sort();
}

async function makeCall(client: ManagementClient, call: Call, secrets: string[]): Promise<Outcome> {
  const before =
    call.method === 'PUT'
      ? await client.send(call.what, { method: 'GET', path: call.readBack.path, timeoutMs: READ_TIMEOUT_MS })
      : undefined;
  const response = await client.send(call.what, call);
  const outcome = (what: Outcome['what']): Outcome => ({
    what,
    kind: call.kind,
    id: call.id,
    differences: [],
  });
  if (call.kind === 'key' && response.body['code'] === 'KEY_EXISTS') return outcome('unchanged');
  if (response.status >= 300) throw refusal(client.host, call, response, secrets);
  if (before) {
    if (before.status === 404) return outcome('created');
    const isSame =
      before.etag === null
        ? differences(before.body, response.body).length === 0
        : before.etag === response.etag;
    return outcome(isSame ? 'unchanged' : 'changed');
  }
  if (call.kind === 'key') return outcome('created');
  const { imported, duplicates, rejected } = response.body as {
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

/** Predicts the outcome of a call by reading, without making it. */
async function tryCall(client: ManagementClient, call: Call, secrets: string[]): Promise<Outcome> {
  const { path, key, count } = call.readBack;
  const seen = await client.send(call.what, { method: 'GET', path, key, timeoutMs: READ_TIMEOUT_MS });
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
    const found = differences(seen.body, JSON.parse(call.body));
    return outcome(found.length > 0 ? 'changed' : 'unchanged', found.map(differenceLine));
  }
  const loaded = loadedIn(seen.body);
  if (loaded >= count) return outcome('unchanged');
  return outcome(loaded === 0 ? 'created' : 'changed', [`${count} in the file, ${loaded} on the host`]);
}

/** Returns one line such as `title: "Old" -> "New"`. */
const differenceLine = ({ at, before, after }: Difference): string =>
  `${at}: ${show(before)} -> ${show(after)}`;

function show(value: unknown): string {
  const text = value == null || value === '' ? 'nothing' : JSON.stringify(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

/** Returns the number of loaded codes of a perk, or cards of a pool. */
function loadedIn(body: Record<string, unknown>): number {
  if (typeof body['loaded'] === 'number') return body['loaded'];
  const inventories = (body['inventories'] ?? []) as {
    available: number;
    reserved: number;
    redeemed: number;
    withdrawn: number;
    lapsed: number;
  }[];
  return inventories.reduce(
    (sum, { available, reserved, redeemed, withdrawn, lapsed }) =>
      sum + available + reserved + redeemed + withdrawn + lapsed,
    0,
  );
}

function refusal(
  host: string,
  call: Call,
  { status, body, text }: HttpResponse,
  secrets: string[],
): CatalogueError {
  const { code, title, detail } = body as { code?: string; title?: string; detail?: string };
  const said = detail ?? title ?? text.slice(0, 200);
  const sentence = `${call.what}: the host "${host}" returned ${status}${code ? ` ${code}` : ''}: ${said}`;
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
 * Reads what was applied before. Trusts it only if the imported key of the first account still works: if the database
 * was emptied or replaced, everything is sent again.
 */
async function readState(
  file: string | undefined,
  client: ManagementClient | undefined,
  data: Catalogue,
): Promise<State> {
  if (!file || !client) return {};
  let state: State;
  try {
    state = JSON.parse(readFileSync(file, 'utf8')) as State;
  } catch {
    return {};
  }
  const key = data.accounts[0]?.user_key ?? '';
  const { status } = await client.send('the first imported key', {
    method: 'GET',
    path: '/cube/token',
    key,
    timeoutMs: READ_TIMEOUT_MS,
  });
  return status < 300 ? state : {};
}

function writeState(file: string | undefined, state: State): void {
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`);
}
