import fc from 'fast-check';
import type { AppName } from '@perkway/domain';
import { exchange } from './exchange.js';
import { judge } from './judge.js';
import { requestsFor, type FuzzRequest, type Target } from './requests.js';

export interface Finding {
  /** Operation and fault: what is counted once. */
  what: string;
  request: FuzzRequest;
  times: number;
}

export interface Outcome {
  app: AppName;
  sent: number;
  /** How many answers of each hundred of statuses; 0: the connection closed, as it may for what is no HTTP. */
  statuses: Map<number, number>;
  slowestMs: number;
  /** Operations that were never answered well: nothing behind their first check was tried. */
  neverServed: Set<string>;
  findings: Finding[];
}

export interface Options {
  requests: number;
  seed: number;
  /** Requests at a time. */
  lanes: number;
  deadlineMs: number;
}

/** One host says the same of very many requests, or is down: more would tell nothing new. */
const MAX_FINDINGS = 25;
/** Tries for a smaller request that shows the same. */
const MAX_SHRINKS = 150;

/**
 * Sends one host generated requests and makes the request of each different finding as small as it gets. The same seed
 * sends the same, if the stack has the same in it.
 */
export async function fuzzApp(app: AppName, url: URL, target: Target, options: Options): Promise<Outcome> {
  const neverServed = new Set(target.operations.filter(({ responses }) => responses).map(({ name }) => name));
  const outcome: Outcome = { app, sent: 0, statuses: new Map(), slowestMs: 0, neverServed, findings: [] };
  const requests = requestsFor(target);
  const perLane = Math.ceil(options.requests / options.lanes);
  const send = async (request: FuzzRequest): Promise<string | undefined> => {
    const started = performance.now();
    const answer = await exchange(url, request, options.deadlineMs);
    outcome.slowestMs = Math.max(outcome.slowestMs, performance.now() - started);
    const group = typeof answer === 'string' ? 0 : Math.floor(answer.status / 100);
    outcome.statuses.set(group, (outcome.statuses.get(group) ?? 0) + 1);
    if (group === 2 || group === 3) neverServed.delete(request.operation?.name ?? '');
    const fault = judge(app, request, answer);
    return fault && `${request.operation?.name ?? 'other'}: ${fault}`;
  };

  const lane = async (number: number): Promise<void> => {
    let left = perLane;
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
      // Rounds and lanes have seeds of their own, far from those of the next run.
      await fc.check(property, {
        numRuns: left,
        seed: options.seed + number * 1_000_003 + round * 10_007,
        maxSkipsPerRun: 0,
      });
    }
  };
  await Promise.all(Array.from({ length: options.lanes }, (_, number) => lane(number)));
  return outcome;
}
