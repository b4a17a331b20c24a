import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type DemoData, DemoDataError, findProblems, isCsv, readDemoData } from './demo-data.js';

export type DemoHosts = Partial<
  Record<'perks' | 'links' | 'boost' | 'gift' | 'rewards' | 'token' | 'query', string>
>;

export interface ApplyDemoOptions {
  /** Base URLs. What belongs to an absent host is left out. */
  hosts: DemoHosts;
  /** A key of role ADMIN. */
  adminKey: string;
  /** Default: examples/demo of this repository. */
  directory?: string;
  /** Remembers what was applied to which host, so that nothing is sent again. Keep it with the databases' data. */
  stateFile?: string;
  /** `total` counts calls; it is 0 when nothing has changed. */
  onProgress?: (progress: { done: number; total: number; what: string }) => void;
}

export interface AppliedDemo {
  accounts: { id: string; userKey: string; collections: string[]; campaigns: string[]; pools: string[] }[];
}

const DIRECTORY = fileURLToPath(new URL('../../../examples/demo', import.meta.url));
const PARALLEL_CALLS = 8;
const CALL_TIMEOUT_MS = 15_000;
/** Loading cards streams a file, and each is encrypted. */
const LOAD_TIMEOUT_MS = 120_000;
const ATTEMPTS = 6;
const LONGEST_PAUSE_S = 5;

interface Call {
  /** Names the file and the entity in a complaint. */
  what: string;
  method: 'PUT' | 'POST';
  path: string;
  contentType: string;
  body: string;
  timeoutMs: number;
  /** An error code that means "there already", which is what we want. */
  fineIf?: string;
}
/** Calls of one stage need nothing from each other; a stage begins when the one before has ended. */
type Stage = Call[];
type ManagedHost = 'token' | 'perks' | 'boost' | 'gift';

const id = encodeURIComponent;
const json = (
  method: Call['method'],
  path: string,
  entry: { file: string },
  what: string,
  body: unknown,
  fineIf?: string,
): Call => ({
  what: `${entry.file}, ${what}`,
  method,
  path,
  contentType: 'application/json',
  body: JSON.stringify(body),
  timeoutMs: CALL_TIMEOUT_MS,
  fineIf,
});

/** The calls that bring the data into each host, in the order in which the hosts need each other. */
export function planDemo(data: DemoData): Record<ManagedHost, Stage[]> {
  return {
    token: [
      data.accounts.map((account) =>
        json('PUT', `/admin/accounts/${id(account.id)}`, account, `account "${account.id}"`, {
          name: account.name,
          allowed_origins: account.allowed_origins,
          brand: account.brand,
        }),
      ),
      data.accounts.map((account) =>
        json(
          'POST',
          `/admin/accounts/${id(account.id)}/keys`,
          account,
          `user key of account "${account.id}"`,
          { role: 'USER', name: 'Demo key', key: account.user_key },
          'KEY_EXISTS',
        ),
      ),
    ],
    perks: [
      data.categories.map(({ file, id, ...category }) =>
        json('PUT', `/admin/categories/${id}`, { file }, `category ${id}`, category),
      ),
      data.perks.map(({ file, id: perkId, ...perk }) =>
        json('PUT', `/admin/perks/${id(perkId)}`, { file }, `perk "${perkId}"`, perk),
      ),
      [
        ...data.collections.map(({ file, id: collectionId, ...collection }) =>
          json(
            'PUT',
            `/admin/perk-collections/${id(collectionId)}`,
            { file },
            `collection "${collectionId}"`,
            collection,
          ),
        ),
        ...[...data.codes].map(([perkId, { file, codes }]) =>
          json('POST', `/admin/perks/${id(perkId)}/coupon-codes`, { file }, `codes of perk "${perkId}"`, {
            codes,
          }),
        ),
      ],
    ],
    boost: [
      data.campaigns.map(({ file, id: campaignId, ...campaign }) =>
        json('PUT', `/admin/campaigns/${id(campaignId)}`, { file }, `campaign "${campaignId}"`, campaign),
      ),
    ],
    gift: [
      data.pools.map((pool) =>
        json('PUT', `/admin/pools/${pool.id}`, pool, `pool "${pool.id}"`, { owner: pool.owner }),
      ),
      data.pools.map((pool) => ({
        what: `cards/${pool.cards}`,
        method: 'POST',
        path: `/admin/pools/${pool.id}/cards`,
        contentType: isCsv(pool) ? 'text/csv' : 'application/x-ndjson',
        body: pool.text,
        timeoutMs: LOAD_TIMEOUT_MS,
      })),
    ],
  };
}

/**
 * Applies a directory of demo data through the management API. Safe to repeat: PUTs are idempotent, an imported key
 * that is there already is fine, codes and cards that are there already are reported by the host and stay as they are.
 *
 * @throws DemoDataError with one sentence that names the file and entity, and what the host said about it.
 */
export async function applyDemoData(options: ApplyDemoOptions): Promise<AppliedDemo> {
  const { hosts, adminKey, directory = DIRECTORY, stateFile, onProgress } = options;
  const data = readDemoData(directory);
  const problems = findProblems(data);
  if (problems.length > 0) {
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    throw new DemoDataError(`${problems[0]}${more}`);
  }
  const secrets = [adminKey, ...data.accounts.map((account) => account.user_key)];

  const applied = await readState(stateFile, hosts, data);
  const todo = Object.entries(planDemo(data))
    .map(([host, stages]) => ({ host: host as ManagedHost, stages, hash: hashOf(stages) }))
    .filter(({ host, hash }) => hosts[host] && applied[host] !== hash);
  const total = todo.flatMap(({ stages }) => stages.flat()).length;
  let done = 0;

  for (const { host, stages, hash } of todo) {
    for (const stage of stages) {
      await inParallel(stage, async (call) => {
        await send(host, hosts[host]!, call, adminKey, secrets);
        done += 1;
        onProgress?.({ done, total, what: call.what });
      });
    }
    applied[host] = hash;
    writeState(stateFile, applied);
  }
  if (total === 0) onProgress?.({ done, total, what: 'the demo data is there already' });

  const owned = (host: ManagedHost, entries: { id: string; owner: string }[], owner: string): string[] =>
    hosts[host] ? entries.filter((entry) => entry.owner === owner).map((entry) => entry.id) : [];
  return {
    accounts: data.accounts.map((account) => ({
      id: account.id,
      userKey: account.user_key,
      collections: owned('perks', data.collections, account.id),
      campaigns: owned('boost', data.campaigns, account.id),
      pools: owned('gift', data.pools, account.id),
    })),
  };
}

async function send(
  host: string,
  base: string,
  call: Call,
  adminKey: string,
  secrets: string[],
): Promise<void> {
  const fail = (reason: string): never => {
    const sentence = secrets.reduce(
      (text, secret) => text.replaceAll(secret, '***'),
      `${call.what}: ${reason}`,
    );
    throw new DemoDataError(sentence);
  };
  for (let attempt = 1; ; attempt += 1) {
    let response: Response;
    let text: string;
    try {
      response = await fetch(new URL(call.path, base), {
        method: call.method,
        headers: { 'Content-Type': call.contentType, 'X-API-Key': adminKey },
        body: call.body,
        signal: AbortSignal.timeout(call.timeoutMs),
      });
      text = await response.text();
    } catch (error) {
      const { name, message, cause } = error as Error;
      const reason =
        name === 'TimeoutError'
          ? `no answer within ${call.timeoutMs / 1000} s`
          : ((cause as Error)?.message ?? message);
      return fail(`the host "${host}" at ${base} does not answer (${reason})`);
    }
    // A host that has just started may still be waiting for the one it asks about keys or accounts.
    if ((response.status === 503 || response.status === 429) && attempt < ATTEMPTS) {
      const pause = Number(response.headers.get('Retry-After')) || 1;
      await sleep(Math.min(pause, LONGEST_PAUSE_S) * 1000);
      continue;
    }
    const answer = parseAnswer(text);
    if (response.ok) {
      const rejected = answer.rejected?.[0];
      if (rejected) fail(`the host "${host}" rejected row ${rejected.row}: ${rejected.reason}`);
      return;
    }
    if (call.fineIf && answer.code === call.fineIf) return;
    const detail = answer.detail ?? answer.title ?? text.slice(0, 200);
    return fail(
      `the host "${host}" answered ${response.status}${answer.code ? ` ${answer.code}` : ''}: ${detail}`,
    );
  }
}

interface Answer {
  code?: string;
  title?: string;
  detail?: string;
  rejected?: { row: number; reason: string }[];
}
/** JSON, or the plain text that the gift-card host answers with. */
function parseAnswer(text: string): Answer {
  try {
    return (JSON.parse(text) as Answer | null) ?? {};
  } catch {
    return {};
  }
}

async function inParallel(calls: Call[], run: (call: Call) => Promise<void>): Promise<void> {
  const waiting = [...calls];
  const worker = async (): Promise<void> => {
    for (let call = waiting.shift(); call; call = waiting.shift()) {
      try {
        await run(call);
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
 * What was applied before. Believed only while the first demo key still opens the token host: a database that was
 * emptied or exchanged meanwhile gets everything again.
 */
async function readState(file: string | undefined, hosts: DemoHosts, data: DemoData): Promise<State> {
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
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
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
