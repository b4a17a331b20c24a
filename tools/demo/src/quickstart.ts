/**
 * `npm run quickstart`: runs every command of docs/quickstart.md against the running stack, in one shell as its reader would,
 * and looks whether the last answer has counted what the others did.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const PAGE = 'docs/quickstart.md';
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

/** What is missing in the last answer, where the commands went through at all. */
function complaint(): string | undefined {
  if (commands.length === 0) return `${PAGE} has no commands`;
  if (code !== 0) return `a command of ${PAGE} ended with ${code}`;
  const answer = /^\{"query":.*$/m.exec(output)?.[0];
  const [row] = answer ? (JSON.parse(answer) as { data: Record<string, string>[] }).data : [];
  const missing = MEASURES.filter((name) => !(Number(row?.[`campaign_funnel.${name}`]) >= 1));
  return missing.length > 0 ? `the last answer of ${PAGE} has not counted: ${missing.join(', ')}` : undefined;
}

const problem = complaint();
process.stdout.write(
  problem ? `quickstart: ${problem}\n` : `quickstart: ${commands.length} blocks of commands, all counted\n`,
);
process.exitCode = problem ? 1 : 0;
