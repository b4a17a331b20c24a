import { jetstreamManager } from '@nats-io/jetstream';
import { TRACKING_CONSUMER, TRACKING_STREAM } from '@perkway/domain';
import { withBroker } from '@perkway/local-servers';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  audit,
  readStored,
  ROOT,
  SURFACE_NAMES,
  type Load,
  type Reckoning,
  type Sum,
  type TrialFleet,
} from '@perkway/trials';

/** How much is played. */
export interface Profile {
  /** Of each app, where Postgres fails over; a restore has one. */
  replicas: number;
  cards: number;
  /** Under load, before and after what happens. */
  stretchMs: number;
}

const REPLAYED_WITHIN_MS = 120_000;

export const write = (line: string): void => void process.stdout.write(`${line}\n`);

const sumsOf = ({ sums }: Reckoning): [string, Sum][] => {
  const nothing: Sum = { attempted: 0, answered: 0, lost: 0, doubled: 0 };
  return SURFACE_NAMES.map((surface) => [surface, sums.get(0)?.get(surface) ?? nothing]);
};

export function show(title: string, reckoning: Reckoning): void {
  write(`\n${title}`);
  write(
    `${''.padEnd(12)}${['answered', 'there', 'lost', 'doubled'].map((head) => head.padStart(10)).join('')}`,
  );
  for (const [surface, { answered, lost, doubled }] of sumsOf(reckoning))
    write(
      `${surface.padEnd(12)}${[answered, answered - lost, lost, doubled].map((n) => String(n).padStart(10)).join('')}`,
    );
}

export const count = (reckoning: Reckoning, what: 'lost' | 'doubled'): number =>
  sumsOf(reckoning).reduce((sum, [, each]) => sum + each[what], 0);

/** Resolves when all that the stream has since then was stored again. */
export async function replay(fleet: TrialFleet, from: Date): Promise<void> {
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
    throw new Error('the replay does not come to an end');
  });
}

export const verdict = (holds: boolean, text: string): boolean => {
  write(`\n${holds ? 'Holds' : 'WRONG'}: ${text}`);
  return holds;
};

/**
 * Whether the audit names each link that was answered and forgotten, or whose reveal or cancellation was. Their events are
 * in the stream: the apps tell what a database heard last when it goes.
 */
export async function auditNames(fleet: TrialFleet, load: Load): Promise<boolean> {
  const { links } = await readStored(fleet.database.admin, load.run);
  const rows = new Map([...links.values()].flat().map((link) => [link.id, link]));
  const missing = load.attempts.flatMap(({ surface, linkId, answeredAt }) => {
    if (!linkId || answeredAt === undefined) return [];
    const row = rows.get(linkId);
    if (surface === 'reveal' && !row?.isRevealed) return [{ linkId, state: 'revealed' }];
    if (surface === 'cancel' && !row?.isCancelled) return [{ linkId, state: 'cancelled' }];
    return surface === 'generate' && !row ? [{ linkId, state: 'generated' }] : [];
  });
  const { passed, output } = await audit(fleet);
  write(`\n${output.trim()}`);
  const unnamed = missing.filter(({ linkId }) => !output.includes(linkId));
  for (const { linkId, state } of unnamed) write(`${state}, and not named: ${linkId}`);
  return verdict(
    // Where nothing is missing the audit may still know of a link whose maker got no answer.
    unnamed.length === 0 && (!passed || missing.length === 0),
    `${missing.length} links, reveals and cancellations were answered and are gone; the audit names ${missing.length - unnamed.length}.`,
  );
}
