import { formatTable, readCommandLine, refuseUsage } from '@perkway/command-line';
import { APPS } from '@perkway/fleet';
import type { AppName } from '@perkway/domain';
import { fuzzApp, type Outcome } from './fuzz-app.js';
import { learn } from './known.js';
import { givenStack, startStack } from './stack.js';

const PROFILES = { full: 10_000, ci: 1_500 } as const;
const CONCURRENCY = 2;
/** Longer than any statement or RPC timeout. */
const DEADLINE_MS = 15_000;
const MAX_SHOWN = 600;
const MAX_LINES = 12;

const USAGE = `npm run fuzz -- [options]

Sends well-formed and hostile requests, generated from OpenAPI documents, to every host, and checks every response. Exits with 0
if there is no finding, 1 if there is one, 2 if it could not run.

  --requests <number>  requests per app; default: 10000, or 1500 with --profile ci
  --seed <number>      seed of the random numbers; default: 1
  --app <name>         only this app; repeat for more
  --profile full|ci    default: full; ci sends fewer requests
  --stack <file>       stack file of a running stack; without it, one is started from the built bundles`;

const { values } = readCommandLine(USAGE, {
  options: {
    requests: { type: 'string' },
    seed: { type: 'string', default: '1' },
    app: { type: 'string', multiple: true, default: [...APPS] },
    profile: { type: 'string', default: 'full' },
    stack: { type: 'string' },
  },
});

/** Escapes a request for printing and masks secrets. */
function show(bytes: Buffer, secrets: Map<string, string>): string {
  let text = bytes.toString('latin1');
  for (const [secret, word] of secrets)
    text = text.replaceAll(secret, word).replaceAll(encodeURIComponent(secret), word);
  const lines = JSON.stringify(text).slice(1, -1).split('\\r\\n');
  const more = lines.length > MAX_LINES ? [`... (${lines.length} lines)`] : [];
  const shown = [...lines.slice(0, MAX_LINES), ...more].join('\n      ');
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}... (${bytes.length} bytes)` : shown;
}

function table(outcomes: Outcome[]): string {
  const count = ({ statuses }: Outcome, group: number) => String(statuses.get(group) ?? 0);
  return formatTable([
    ['app', 'requests', '2xx', '3xx', '4xx', '5xx', 'closed', 'slowest', 'findings'],
    ...outcomes.map((outcome) => [
      outcome.app,
      String(outcome.sent),
      ...[2, 3, 4, 5, 0].map((group) => count(outcome, group)),
      `${Math.round(outcome.slowestMs)} ms`,
      String(outcome.findings.length),
    ]),
  ]);
}

async function main(): Promise<boolean> {
  const requests = Number(values.requests ?? PROFILES[values.profile as keyof typeof PROFILES]);
  const seed = Number(values.seed);
  const apps = values.app as AppName[];
  if (!Number.isInteger(requests) || !Number.isInteger(seed) || apps.some((app) => !APPS.includes(app)))
    refuseUsage(
      `--requests and --seed must be whole numbers, --profile full or ci, --app one of ${APPS.join(', ')}`,
    );
  const stack = values.stack ? givenStack(values.stack) : await startStack();
  try {
    const world = await learn(stack);
    const started = Date.now();
    const outcomes = await Promise.all(
      apps.map((app) =>
        fuzzApp(app, world.urls.get(app)!, world.targets.get(app)!, {
          requests,
          seed,
          concurrency: CONCURRENCY,
          deadlineMs: DEADLINE_MS,
        }),
      ),
    );
    for (const { app, findings } of outcomes)
      for (const { what, request, times } of findings)
        process.stdout.write(
          `\n${app}: ${what} (${times} times)\n      ${show(request.bytes, world.secrets)}\n`,
        );
    for (const { app, neverServed } of outcomes)
      if (neverServed.size > 0)
        process.stdout.write(`\n${app}: no successful response from: ${[...neverServed].join(', ')}\n`);
    const total = outcomes.reduce((sum, { sent }) => sum + sent, 0);
    process.stdout.write(
      `\n${table(outcomes)}\n\n${total} requests, seed ${seed}, ${Math.round((Date.now() - started) / 1_000)} s\n`,
    );
    return outcomes.every(({ findings }) => findings.length === 0);
  } finally {
    await stack.stop();
  }
}

main().then(
  (passed) => (process.exitCode = passed ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`fuzz: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
