import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readCommandLine } from '@perkway/command-line';

readCommandLine(
  `npm run quickstart

Runs every command of docs/quickstart.md on the running stack in one shell, and checks that analytics counted every
interaction and that the webhook received the opened gift.`,
  {},
);
const PAGE = 'docs/quickstart.md';
const DELIVERED = /^heard of reward_link\.revealed: reward_link\/\S+ of quickstart-/m;
const MEASURES = ['journeys', 'teaser_viewers', 'clickers', 'converters', 'gift_recipients', 'gift_openers'];

const commands = [...readFileSync(PAGE, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text!);
const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let output = '';
shell.stdout.setEncoding('utf8').on('data', (text: string) => {
  output += text;
});
const [code] = (await once(shell, 'close')) as [number | null];

/** Returns what failed or is missing. */
function findProblem(): string | undefined {
  if (commands.length === 0) return `${PAGE} has no commands`;
  if (code !== 0) return `a command of ${PAGE} exited with ${code}`;
  const response = /^\{"query":.*$/m.exec(output)?.[0];
  const [row] = response ? (JSON.parse(response) as { data: Record<string, string>[] }).data : [];
  const missing = MEASURES.filter((name) => !(Number(row?.[`campaign_funnel.${name}`]) >= 1));
  if (missing.length > 0) return `analytics has not counted: ${missing.join(', ')}`;
  return DELIVERED.test(output) ? undefined : 'the webhook has not delivered the opened gift';
}

const problem = findProblem();
process.stdout.write(
  problem
    ? `quickstart: ${problem}\n`
    : `quickstart: ${commands.length} blocks of commands, all counted and delivered\n`,
);
process.exitCode = problem ? 1 : 0;
