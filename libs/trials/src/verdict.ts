import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Load } from './load.js';
import { readStored } from './read-stored.js';
import { reckon, type Reckoning } from './reckoning.js';
import { ROOT, type TrialFleet } from './trial-fleet.js';

const COUNTED_WITHIN_MS = 120_000;
/** What is doubled may come late. */
const LAST_LOOK_AFTER_MS = 4_000;
/** Of each kind of promise, looked at one by one. */
const SAMPLE = 150;

const lostIn = ({ sums }: Reckoning): number =>
  [...sums.values()].flatMap((ofPhase) => [...ofPhase.values()]).reduce((all, { lost }) => all + lost, 0);

/** Waits until what was answered is counted, for a time, and looks a last time then. */
export async function reckonAll(
  fleet: TrialFleet,
  load: Load,
  withinMs = COUNTED_WITHIN_MS,
): Promise<Reckoning> {
  const look = async () => reckon(load.attempts, await readStored(fleet.database.admin, load.run));
  const deadline = Date.now() + withinMs;
  while (lostIn(await look()) > 0 && Date.now() < deadline) await sleep(1_000);
  await sleep(LAST_LOOK_AFTER_MS);
  return look();
}

/** A sample that is spread over the whole run. */
function sample<T>(all: readonly T[]): T[] {
  const step = Math.max(1, Math.floor(all.length / SAMPLE));
  return all.filter((_, index) => index % step === 0);
}

/** Whether links that were handed out lead somewhere, tokens open, cards are the same and sessions last. @returns what does not hold */
export async function checkPromises(load: Load): Promise<string[]> {
  const broken: string[] = [];
  const { clickUrls, outreachUrls, tokens, cards, sessions } = load.promised;
  const hold = async (what: string, work: () => Promise<unknown>) => {
    for (let tries = 1; ; tries += 1)
      try {
        return void (await work());
      } catch (error) {
        if (tries === 3) return void broken.push(`${what}: ${(error as Error).message}`);
        await sleep(500);
      }
  };
  for (const url of sample([...clickUrls, ...outreachUrls]))
    await hold('a link', async () => {
      const { status } = await ask(url);
      if (status !== 302) throw new Error(`answers ${status}`);
    });
  const ended = new Map(
    load.attempts
      .filter(({ surface, linkId }) => (surface === 'reveal' || surface === 'cancel') && linkId)
      .map(({ surface, linkId, answeredAt }) => [linkId!, answeredAt === undefined ? '' : surface]),
  );
  const expected: Record<string, string> = { reveal: 'REVEALED', cancel: 'EXPIRED' };
  for (const id of sample([...tokens.keys()])) {
    const end = ended.get(id);
    // Asked for, and never answered: either may be.
    if (end === '') continue;
    const wanted = end === undefined ? 'RESERVED' : expected[end]!;
    await hold(`the token of ${id}`, async () => {
      const state = await load.stateOf(id);
      if (state !== wanted) throw new Error(`is ${state}, not ${wanted}`);
    });
  }
  for (const [id, code] of sample([...cards]))
    await hold(`the card of ${id}`, async () => {
      if ((await load.cardOf(id)) !== code) throw new Error('is another one');
    });
  for (const cookie of sample(sessions)) await hold('a session', () => load.useSession(cookie));
  return broken;
}

/** `npm run audit` of the fleet, when nothing is under way. @returns whether it passed, and what it wrote */
export async function audit(fleet: TrialFleet): Promise<{ passed: boolean; output: string }> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'tools/audit/src/main.ts'), '--grace', '5'],
    {
      cwd: ROOT,
      env: { ...process.env, DATABASE_URL: fleet.database.admin, NATS_URL: fleet.brokerUrl },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { passed: code === 0, output };
}
