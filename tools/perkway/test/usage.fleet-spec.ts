import { BundledApp } from '@perkway/testing';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
/** The scripts that run a program of ours, by name. */
const OURS = Object.entries(scripts).flatMap(([name, script]): [string, string[]][] => {
  const [, file] = /^(?:exec )?node --import tsx (\S+)$/.exec(script) ?? [];
  if (file) return [[`npm run ${name}`, [process.execPath, '--import', 'tsx', file]]];
  const [, shell] = /^(?:bash )?((?:tools|\.ci)\/\S+)$/.exec(script) ?? [];
  return shell ? [[`npm run ${name}`, [join(ROOT, shell)]]] : [];
});

const run = ([program, ...args]: string[], ...more: string[]) => {
  const { status, stdout, stderr } = spawnSync(program!, [...args, ...more], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
    timeout: 60_000,
  });
  return { status, stdout, stderr };
};

function expectUsage(command: string[]): void {
  expect(run(command, '--help')).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^Usage: \S/),
    stderr: '',
  });
  expect(run(command, '--no-such-option')).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^[^\n]*--no-such-option[^\n]*\.\n$/),
  });
}

it('finds the scripts of package.json', () =>
  expect(OURS.map(([name]) => name)).toEqual(
    expect.arrayContaining(['npm run start', 'npm run listen', 'npm run check', 'npm run citus']),
  ));

it.each(OURS)('%s prints its usage, and refuses an unknown option', (_, command) => expectUsage(command));

it('docker/up prints its usage, and refuses an unknown option', () => expectUsage([join(ROOT, 'docker/up')]));

it('the migrations of an app print their usage, and do not run with an unknown option', async () =>
  expectUsage([process.execPath, (await BundledApp.build('links')).path('migrate')]));

it('perkway and each of its commands print their usage, and refuse an unknown option', async () => {
  const main = [process.execPath, (await BundledApp.build('perkway')).path('main')];
  const { stdout } = run(main, '--help');
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name!);
  expect(commands).toContain('reporting-role');
  expect(run(main)).toMatchObject({ status: 2, stderr: expect.stringMatching(/^Give a command;[^\n]*\n$/) });
  expect(run(main, 'constructor')).toMatchObject({ status: 2 });
  for (const args of [[], ...commands.map((name) => [name])]) expectUsage([...main, ...args]);
});
