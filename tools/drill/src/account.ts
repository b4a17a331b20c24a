import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
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
}

export const verdict = (holds: boolean, text: string): boolean => {
  write(`\n${holds ? 'Holds' : 'WRONG'}: ${text}`);
  return holds;
};

/**
 * Whether the audit names each link that was answered and forgotten, or whose reveal or cancellation was, as far as anything that
 * is left has heard of it: an event that waited in the outbox of the server that died went with it.
 */
export async function auditNames(fleet: TrialFleet, load: Load): Promise<boolean> {
  const { links, linkEvents } = await readStored(fleet.database.admin, load.run);
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
  const unknown = unnamed.filter(({ linkId, state }) => !linkEvents.has(`${linkId}:${state}`));
  for (const { linkId, state } of unnamed) write(`${state}, and not named: ${linkId}`);
  return verdict(
    unnamed.length === unknown.length && passed === (missing.length === unknown.length),
    `${missing.length} links, reveals and cancellations were answered and are gone; the audit names ${missing.length - unnamed.length}, and of ${unknown.length} the event had not left the server that died.`,
  );
}
