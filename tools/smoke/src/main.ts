/**
 * Starts the built bundles as a separate stack, runs the demo, the quickstart and hostile requests, and stops it. It finds
 * what unit tests cannot: a bundle that does not load as ESM, an import of a development package, a process or port left
 * behind, a secret in a log.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PORT_OWNERS, portOf, type StackFile } from '@perkway/fleet';
import { isAlive, isPortFree } from '@perkway/local-servers';
import { LocalStack } from '@perkway/test-fleet';

const START_LIMIT_MS = 400_000;
const STOP_LIMIT_MS = 30_000;

const COMMANDS = (stackFile: string) => [
  { command: 'npm run demo', limitMs: 300_000, args: ['tools/demo/src/main.ts'] },
  { command: 'npm run quickstart', limitMs: 300_000, args: ['tools/demo/src/quickstart.ts'] },
  {
    command: 'npm run fuzz',
    limitMs: 1_200_000,
    args: ['tools/fuzz/src/main.ts', '--profile', 'ci', '--stack', stackFile],
  },
];

class SmokeError extends Error {}

function run(args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', ...args], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
}

async function exitCode(child: ChildProcess, limitMs: number, what: string): Promise<number> {
  if (child.exitCode !== null) return child.exitCode;
  const timer = new AbortController();
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const late = sleep(limitMs, undefined, { signal: timer.signal }).then(() => {
    throw new SmokeError(`${what} took longer than ${limitMs / 1000} s`);
  });
  late.catch(() => undefined);
  try {
    const [code] = await Promise.race([exited, late]);
    return code ?? 1;
  } finally {
    timer.abort();
  }
}

/** Checks that bundles import only what `npm ci --omit=dev` installs, and that the bundled packages contain it. */
function checkBundleImports() {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const packages = join(process.cwd(), 'dist', 'node_modules', '/');
  for (const app of readdirSync('dist').filter((name) => name !== 'node_modules'))
    for (const file of readdirSync(join('dist', app)).filter((name) => name.endsWith('.js'))) {
      const code = readFileSync(join('dist', app, file), 'utf8');
      for (const [, name = ''] of code.matchAll(/^import\s(?:[^"'\n]*\sfrom\s)?["']([^"']+)["']/gm)) {
        if (name.startsWith('.') || isBuiltin(name)) continue;
        const packageName = name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/');
        if (!(packageName in dependencies))
          throw new SmokeError(
            `dist/${app}/${file} imports ${packageName}, which is not a production dependency`,
          );
        if (
          !createRequire(join(process.cwd(), 'dist', app, file))
            .resolve(name)
            .startsWith(packages)
        )
          throw new SmokeError(`dist/${app}/${file} imports ${name}, which bundle-packages.mjs leaves out`);
      }
    }
}

function checkLogs(stack: StackFile) {
  const secretsFile = join(stack.dataDir, 'secrets.json');
  const generated = existsSync(secretsFile)
    ? collectStrings(JSON.parse(readFileSync(secretsFile, 'utf8')))
    : [];
  const keys = stack.accounts.map(({ userKey }) => userKey);
  const secrets = [stack.adminKey, ...keys, ...generated].filter((text) => text.length >= 12);
  const patterns = [
    /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+/,
    /\/c\/[\w-]{40,}/,
    /#[\w.-]{40,}/,
    /Bearer (?!\[redacted\])\S+/,
  ];
  for (const file of readdirSync(stack.logDir)) {
    const text = readFileSync(join(stack.logDir, file), 'utf8');
    if (secrets.some((secret) => text.toLowerCase().includes(secret.toLowerCase())))
      throw new SmokeError(`${file} contains a secret in plain text`);
    const found = patterns.find((pattern) => pattern.test(text));
    if (found) throw new SmokeError(`${file} contains what looks like a token (${found})`);
  }
}

const collectStrings = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : value && typeof value === 'object'
      ? Object.values(value).flatMap(collectStrings)
      : [];

async function main() {
  checkBundleImports();
  const folder = mkdtempSync(join(tmpdir(), 'perkway-smoke-'));
  let stack: LocalStack | undefined;
  try {
    stack = await LocalStack.start({ folder, startLimitMs: START_LIMIT_MS });
    for (const { args, command, limitMs } of COMMANDS(join(folder, 'stack.json'))) {
      const code = await exitCode(run(args, stack.environment), limitMs, command);
      if (code !== 0) throw new SmokeError(`${command} failed`);
    }
    const code = await stack.stop('SIGINT', STOP_LIMIT_MS);
    if (code !== 0) throw new SmokeError(`npm start exited with code ${code} after Ctrl-C`);
    const survivors = Object.entries(stack.file.pids).filter(([, pid]) => isAlive(pid));
    if (survivors.length > 0)
      throw new SmokeError(`still running after Ctrl-C: ${survivors.map(([name]) => name).join(', ')}`);
    const ports = PORT_OWNERS.map((owner) => portOf(stack!.portBase, owner));
    const free = await Promise.all(ports.map(isPortFree));
    const busy = ports.filter((_, index) => !free[index]);
    if (busy.length > 0) throw new SmokeError(`ports still busy after Ctrl-C: ${busy.join(', ')}`);
    checkLogs(stack.file);
    process.stdout.write(
      'smoke: the built stack started, counted a whole journey, withstood hostile requests, and stopped cleanly\n',
    );
  } finally {
    await stack?.stop('SIGTERM', STOP_LIMIT_MS);
    rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`smoke: ${error instanceof SmokeError ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
