import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readCommandLine } from '@perkway/command-line';
import { freePort } from '@perkway/local-servers';

import { readStack } from './demo.js';
import { DemoError } from './journey.js';

readCommandLine(
  `npm run quickstart

Runs the \`sh\` blocks of docs/quickstart.md and docs/webhooks.md on the running stack in one shell, and checks that analytics
counted every interaction, and that the webhook received the opened gift and the feed returned it.`,
  {},
);
const PAGES = ['docs/quickstart.md', 'docs/webhooks.md'];
const DELIVERED = /^heard of reward_link\.revealed: reward_link\/\S+ of (quickstart-\S+)$/m;
const MEASURES = ['journeys', 'reward_viewers', 'clickers', 'converters', 'gift_recipients', 'gift_openers'];

/** Repeats the query of a block, because a busy machine counts later. */
const untilCounted = (block: string): string =>
  `for attempt in 1 2 3 4 5 6; do\n${block}grep -Eq '":"0"|"data":\\[\\]' results.json || break\ndone\n`;

/** Fills in what a reader sets: the key, the addresses, and where the receiver listens. */
async function readCommands(): Promise<string[]> {
  const { hosts, accounts } = readStack(resolve(process.env.STACK_FILE || '.local/stack.json'));
  const port = String(await freePort());
  return PAGES.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) =>
      text!
        .replaceAll(/https:\/\/(\w+)\.perkway\.example/g, (_, host: keyof typeof hosts) => hosts[host]!)
        .replaceAll('your-user-key', accounts[0]!.userKey)
        .replaceAll('https://your-receiver.example', `http://127.0.0.1:${port}`)
        .replaceAll('PORT=3000', `PORT=${port}`)
        .replace(/^sleep 5\n.*/s, untilCounted),
    ),
  );
}

/** Runs the commands in an empty folder, because readers of the quickstart do not have the repository. */
async function runAll(commands: string[]): Promise<{ code: number | null; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'perkway-quickstart-'));
  try {
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [code] = (await once(shell, 'close')) as [number | null];
    return { code, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type FeedPage = { data: { data: { journey_id?: string } }[] };

/** Returns what failed or is missing. */
function findProblem(code: number | null, output: string): string | undefined {
  if (code !== 0) return `a command of ${PAGES.join(' or ')} exited with ${code}`;
  const response = [...output.matchAll(/^\{"query":.*$/gm)].at(-1)?.[0];
  const [row] = response ? (JSON.parse(response) as { data: Record<string, string>[] }).data : [];
  const missing = MEASURES.filter((name) => !(Number(row?.[`campaign_funnel.${name}`]) >= 1));
  if (missing.length > 0) return `analytics has not counted: ${missing.join(', ')}`;
  const journey = DELIVERED.exec(output)?.[1];
  if (!journey) return 'the webhook has not delivered the opened gift';
  const pages = [...output.matchAll(/^\{"data":.*"has_more":.*$/gm)].map(
    ([page]) => JSON.parse(page) as FeedPage,
  );
  const isRead = pages.some(({ data: [event] }) => event?.data.journey_id === journey);
  return isRead ? undefined : 'the feed has not returned the opened gift';
}

try {
  const commands = await readCommands();
  const { code, output } = await runAll(commands);
  const problem = findProblem(code, output);
  if (problem) throw new DemoError(`quickstart: ${problem}`);
  process.stdout.write(`quickstart: ${commands.length} blocks of commands, all counted and delivered\n`);
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
