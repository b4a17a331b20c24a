import { audit, type Audit } from '@perkway/audit';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from './load.js';
import { readStored } from './read-stored.js';
import { reconcile, type Reconciliation } from './reconciliation.js';
import { sendRequest } from './send-request.js';
import type { TestFleet } from './test-fleet.js';

const COUNTED_WITHIN_MS = 120_000;
/** Extra wait before the last comparison, because duplicates may arrive late. */
const LAST_COMPARISON_AFTER_MS = 4_000;
/** At least this many URLs, tokens, cards and sessions each are sampled, or all if there are fewer. */
const SAMPLE = 150;

const lostIn = ({ sums }: Reconciliation): number =>
  [...sums.values()].flatMap((ofPhase) => [...ofPhase.values()]).reduce((all, { lost }) => all + lost, 0);

/** Waits until nothing acknowledged is missing or time is up, then reconciles one last time. */
export async function reconcileAll(
  fleet: { database: { admin: string } },
  load: Load,
  withinMs = COUNTED_WITHIN_MS,
): Promise<Reconciliation> {
  const look = async () => reconcile(load.attempts, await readStored(fleet.database.admin, load.run));
  const deadline = Date.now() + withinMs;
  while (lostIn(await look()) > 0 && Date.now() < deadline) await sleep(1_000);
  await sleep(LAST_COMPARISON_AFTER_MS);
  return look();
}

/** Takes a sample spread over the whole run. */
function sample<T>(all: readonly T[]): T[] {
  const step = Math.max(1, Math.floor(all.length / SAMPLE));
  return all.filter((_, index) => index % step === 0);
}

/** Checks that URLs still redirect, tokens work, cards are the same and sessions last. @returns the failures */
export async function checkPromises(load: Load): Promise<string[]> {
  const broken: string[] = [];
  const { clickUrls, outreachUrls, tokens, cards, sessions } = load.promised;
  const check = async (what: string, work: () => Promise<unknown>) => {
    for (let tries = 1; ; tries += 1)
      try {
        return void (await work());
      } catch (error) {
        if (tries === 3) return void broken.push(`${what}: ${(error as Error).message}`);
        await sleep(500);
      }
  };
  for (const url of sample([...clickUrls, ...outreachUrls]))
    await check('a URL', async () => {
      const { status } = await sendRequest(url);
      if (status !== 302) throw new Error(`status ${status}`);
    });
  const ended = new Map(
    load.attempts
      .filter(({ operation, linkId }) => (operation === 'reveal' || operation === 'cancel') && linkId)
      .map(({ operation, linkId, acknowledgedAt }) => [
        linkId!,
        acknowledgedAt === undefined ? '' : operation,
      ]),
  );
  const expected: Record<string, string> = { reveal: 'REVEALED', cancel: 'EXPIRED' };
  for (const id of sample([...tokens.keys()])) {
    const end = ended.get(id);
    // The reveal or cancellation was not acknowledged, so either state is correct.
    if (end === '') continue;
    const wanted = end === undefined ? 'RESERVED' : expected[end]!;
    await check(`the token of ${id}`, async () => {
      const state = await load.stateOf(id);
      if (state !== wanted) throw new Error(`is ${state}, not ${wanted}`);
    });
  }
  for (const [id, code] of sample([...cards]))
    await check(`the card of ${id}`, async () => {
      if ((await load.cardOf(id)) !== code) throw new Error('is a different one');
    });
  for (const cookie of sample(sessions)) await check('a session', () => load.useSession(cookie));
  return broken;
}

/** Audits the idle fleet. */
export const auditFleet = (fleet: TestFleet): Promise<Audit> =>
  audit({ databaseUrl: fleet.database.admin, natsUrl: fleet.brokerUrl, graceS: 5 });
