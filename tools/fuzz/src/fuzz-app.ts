import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import { exchange } from './exchange.js';
import { judge } from './judge.js';
import { requestsFor, type FuzzRequest, type Target } from './requests.js';

export interface Finding {
  /** Operation and fault. Equal ones are one finding. */
  what: string;
  request: FuzzRequest;
  times: number;
}

export interface Outcome {
  app: AppName;
  sent: number;
  /** Number of responses by status class. 0: none in time, or a closed connection, which invalid HTTP may get. */
  statuses: Map<number, number>;
  slowestMs: number;
  /** Operations without a successful response, so only their first checks were tested. */
  neverServed: Set<string>;
  findings: Finding[];
}

export interface Options {
  requests: number;
  seed: number;
  /** Number of concurrent requests. */
  concurrency: number;
  deadlineMs: number;
}

/** Stop at this many, for example when the host is down; more would add nothing. */
const MAX_FINDINGS = 25;
/** Maximum attempts to shrink a failing request. */
const MAX_SHRINKS = 150;
/** A busy machine responds with 503 and Retry-After for a moment; only one that stays is a finding. */
const MAX_RESENDS = 3;
const RESEND_AFTER_MS = 1_000;

/**
 * Sends generated requests to one host and shrinks the request of each distinct finding. The same seed sends the same
 * requests if the stack has the same data.
 */
export async function fuzzApp(app: AppName, url: URL, target: Target, options: Options): Promise<Outcome> {
  const neverServed = new Set(target.operations.filter(({ responses }) => responses).map(({ name }) => name));
  const outcome: Outcome = { app, sent: 0, statuses: new Map(), slowestMs: 0, neverServed, findings: [] };
  const requests = requestsFor(target);
  const perWorker = Math.ceil(options.requests / options.concurrency);
  const send = async (request: FuzzRequest, resends = MAX_RESENDS): Promise<string | undefined> => {
    const started = performance.now();
    const response = await exchange(url, request, options.deadlineMs);
    outcome.slowestMs = Math.max(outcome.slowestMs, performance.now() - started);
    const group = typeof response === 'string' ? 0 : Math.floor(response.status / 100);
    outcome.statuses.set(group, (outcome.statuses.get(group) ?? 0) + 1);
    if (
      typeof response !== 'string' &&
      response.status === 503 &&
      response.headers.has('retry-after') &&
      resends > 0
    ) {
      await sleep(RESEND_AFTER_MS);
      return send(request, resends - 1);
    }
    if (group === 2 || group === 3) neverServed.delete(request.operation?.name ?? '');
    const fault = judge(app, request, response);
    return fault && `${request.operation?.name ?? 'other'}: ${fault}`;
  };

  const worker = async (number: number): Promise<void> => {
    let left = perWorker;
    for (let round = 0; left > 0 && outcome.findings.length < MAX_FINDINGS; round += 1) {
      let searched: string | undefined;
      let shrinks = 0;
      const property = fc.asyncProperty(requests, async (request) => {
        if (searched === undefined) {
          left -= 1;
          outcome.sent += 1;
        } else if ((shrinks += 1) > MAX_SHRINKS) return;
        const fault = await send(request);
        if (fault === undefined) return;
        const before = outcome.findings.find(({ what }) => what === fault);
        if (searched === undefined && before) {
          before.times += 1;
          return;
        }
        if (searched === undefined) {
          searched = fault;
          outcome.findings.push({ what: fault, request, times: 1 });
        } else if (fault !== searched) return;
        else outcome.findings.find(({ what }) => what === fault)!.request = request;
        throw new Error(fault);
      });
      // Each round and worker has its own seed, far from those of other runs.
      await fc.check(property, {
        numRuns: left,
        seed: options.seed + number * 1_000_003 + round * 10_007,
        maxSkipsPerRun: 0,
      });
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, (_, number) => worker(number)));
  return outcome;
}
