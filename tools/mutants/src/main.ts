import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { FAULTS, type Fault } from './faults.js';
import { planted } from './planted.js';

const USAGE = `npm run mutants -- [--only <text>]

Plants each fault of tools/mutants/src/faults.ts in a copy of the working tree, runs the spec that must fail because of it, and
names the tests that failed. Exits with 0 if every fault made its spec fail, 1 if one did not, 2 if a spec fails without a fault
or a fault cannot be planted.

  --only <text>  only faults whose file, spec or code contains it`;

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
/** A fault may make a test wait forever. */
const SPEC_LIMIT_MS = 600_000;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

/** Copies everything that git would commit. */
function scratchCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'perkway-mutants-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 ** 2,
  });
  for (const file of new Set(files.toString().split('\0')))
    if (file && existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

interface JestReport {
  testResults: { assertionResults: { status: string; fullName: string }[] }[];
}

/** Returns the titles of the tests that fail; undefined if none does. */
function failuresOf(copy: string, { spec, test }: Fault): string[] | undefined {
  const narrowed = test === undefined ? [] : ['-t', test];
  const configuration = spec.endsWith('.fleet-spec.ts') ? ['-c', 'jest.fleet.config.mjs'] : [];
  const report = join(copy, 'mutants-report.json');
  const { status } = spawnSync(
    process.execPath,
    [
      join(copy, 'node_modules/jest/bin/jest.js'),
      ...configuration,
      ...['-w', '1', '--json', '--outputFile', report, '--runTestsByPath', spec, ...narrowed],
    ],
    { cwd: copy, stdio: 'ignore', timeout: SPEC_LIMIT_MS, killSignal: 'SIGKILL' },
  );
  const { testResults } = existsSync(report)
    ? (JSON.parse(readFileSync(report, 'utf8')) as JestReport)
    : { testResults: [] };
  rmSync(report, { force: true });
  if (status === 0) return undefined;
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter((each) => each.status === 'failed')
    .map(({ fullName }) => fullName);
}

function run(faults: readonly Fault[]): number {
  const copy = scratchCopy();
  const isSound = new Map<string, boolean>();
  const failures = { survived: 0, unsound: 0 };
  try {
    for (const fault of faults) {
      const what = `${fault.file}: ${fault.search.trim()} -> ${fault.replacement.trim() || '(nothing)'}`;
      const run = JSON.stringify([fault.spec, fault.test]);
      if (!isSound.has(run)) isSound.set(run, failuresOf(copy, fault) === undefined);
      if (!isSound.get(run)) {
        failures.unsound += 1;
        write(`fails without a fault  ${fault.spec}`);
        continue;
      }
      const file = join(copy, fault.file);
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, planted(text, fault));
      const failed = failuresOf(copy, fault);
      writeFileSync(file, text);
      if (failed === undefined) failures.survived += 1;
      write(`${failed ? 'caught  ' : 'SURVIVED'}  ${what}`);
      for (const title of failed?.length === 0 ? ['(no test could end)'] : (failed ?? []))
        write(`          by ${fault.spec}: ${title}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  write(`${faults.length} faults, ${failures.survived} survived`);
  return failures.unsound > 0 ? 2 : failures.survived > 0 ? 1 : 0;
}

try {
  const { values } = readCommandLine(USAGE, { options: { only: { type: 'string', default: '' } } });
  const faults = FAULTS.filter((fault) =>
    `${fault.file} ${fault.spec} ${fault.search}`.includes(values.only),
  );
  if (faults.length === 0) refuseUsage(`No fault matches --only ${values.only}`);
  process.exitCode = run(faults);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
