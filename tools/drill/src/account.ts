import { formatTable } from '@perkway/command-line';
import { jetstreamManager } from '@nats-io/jetstream';
import { TRACKING_CONSUMER, TRACKING_STREAM } from '@perkway/domain';
import { withBroker } from '@perkway/local-servers';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  auditFleet,
  readStored,
  ROOT,
  OPERATION_NAMES,
  type Load,
  type Reconciliation,
  type Sum,
  type TestFleet,
} from '@perkway/test-fleet';

/** The size of a drill. */
export interface Profile {
  /** Replicas per app for a failover. A restore has one. */
  replicas: number;
  cards: number;
  /** Time under load before and after the outage. */
  stretchMs: number;
}

const REPLAYED_WITHIN_MS = 120_000;

export const write = (line: string): void => void process.stdout.write(`${line}\n`);

const sumsOf = ({ sums }: Reconciliation): [string, Sum][] => {
  const nothing: Sum = { attempted: 0, acknowledged: 0, lost: 0, duplicated: 0 };
  return OPERATION_NAMES.map((operation) => [operation, sums.get(0)?.get(operation) ?? nothing]);
};

export function show(title: string, reconciliation: Reconciliation): void {
  write(`\n${title}`);
  const rows = sumsOf(reconciliation).map(([operation, { acknowledged, lost, duplicated }]) => [
    operation,
    ...[acknowledged, acknowledged - lost, lost, duplicated].map(String),
  ]);
  write(formatTable([['', 'acknowledged', 'stored', 'lost', 'duplicated'], ...rows]));
}

export const count = (reconciliation: Reconciliation, what: 'lost' | 'duplicated'): number =>
  sumsOf(reconciliation).reduce((sum, [, each]) => sum + each[what], 0);

/** Replays the stream from a point in time. Resolves when everything was processed again. */
export async function replay(fleet: TestFleet, from: Date): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'tools/perkway/src/replay.ts'), '--from', from.toISOString()],
    {
      cwd: ROOT,
      env: { ...process.env, NATS_URL: fleet.brokerUrl },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error('the replay failed');
  await withBroker(fleet.brokerUrl, async (connection) => {
    const { consumers } = await jetstreamManager(connection);
    for (const deadline = Date.now() + REPLAYED_WITHIN_MS; Date.now() < deadline; await sleep(200)) {
      const { num_pending, num_ack_pending } = await consumers.info(TRACKING_STREAM, TRACKING_CONSUMER);
      if (num_pending + num_ack_pending === 0) return;
    }
    throw new Error('the replay did not finish in time');
  });
}

export const verdict = (holds: boolean, text: string): boolean => {
  write(`\n${holds ? 'Holds' : 'WRONG'}: ${text}`);
  return holds;
};

/**
 * Checks that the audit names each acknowledged link, reveal and cancellation that the database lost. Their events are
 * still in the stream, because apps publish pending events when the database becomes unavailable.
 */
export async function auditNames(fleet: TestFleet, load: Load): Promise<boolean> {
  const { links } = await readStored(fleet.database.admin, load.run);
  const rows = new Map([...links.values()].flat().map((link) => [link.id, link]));
  const missing = load.attempts.flatMap(({ operation, linkId, acknowledgedAt }) => {
    if (!linkId || acknowledgedAt === undefined) return [];
    const row = rows.get(linkId);
    if (operation === 'reveal' && !row?.isRevealed) return [{ linkId, state: 'revealed' }];
    if (operation === 'cancel' && !row?.isCancelled) return [{ linkId, state: 'cancelled' }];
    return operation === 'generate' && !row ? [{ linkId, state: 'generated' }] : [];
  });
  const { passed, output } = await auditFleet(fleet);
  write(`\n${output.trim()}`);
  const unnamed = missing.filter(({ linkId }) => !output.includes(linkId));
  for (const { linkId, state } of unnamed) write(`${state}, but not named: ${linkId}`);
  return verdict(
    // If nothing acknowledged is missing, the audit may still report a link that was not acknowledged.
    unnamed.length === 0 && (!passed || missing.length === 0),
    `${missing.length} acknowledged links, reveals and cancellations are missing; the audit names ${missing.length - unnamed.length}.`,
  );
}
