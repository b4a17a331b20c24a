import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/paths.js';
import { APP_FOLDERS, specOf } from './app-variables.js';

const FILE = join(ROOT, 'docs/configuration.md');
const INTRODUCTION = `# Configuration

All variables that the apps read. The table is generated from the specifications in \`libs/*\` and \`apps/*/src/env.ts\`. An app reads and checks its
variables once, at start: if one is wrong or missing, the app exits with one sentence that names it. A **secret** can come from a file instead, named by
\`<NAME>_FILE\`. A variable without a default is required. [Deploy](deploy.md#images) says what the images set, and [local stack](local-stack.md#options) what
\`npm start\` reads.
`;

interface Row {
  apps: string[];
  secret: boolean;
  standard: unknown;
  /** Apps by description, because apps describe the URL of another app differently. */
  descs: Map<string, string[]>;
}

function rows(): Map<string, Row> {
  const found = new Map<string, Row>();
  for (const app of APP_FOLDERS)
    for (const [name, spec] of Object.entries(specOf(app))) {
      const row = found.get(name) ?? {
        apps: [],
        // The marker that the platform's `confidential` sets; tools may not import the platform.
        secret: Object.getOwnPropertySymbols(spec).some(({ description }) => description === 'confidential'),
        standard: 'default' in spec ? (spec.default ?? 'none') : undefined,
        descs: new Map<string, string[]>(),
      };
      if (!spec.desc) throw new Error(`${name} of ${app} has no description`);
      row.apps.push(app);
      row.descs.set(spec.desc, [...(row.descs.get(spec.desc) ?? []), app]);
      found.set(name, row);
    }
  return found;
}

const written = (standard: unknown): string => {
  if (standard === undefined) return '';
  const text = Array.isArray(standard) ? standard.join(',') : String(standard as string);
  // `ASSETS_FOLDER`: a path relative to the module, which in a built app is the bundle.
  if (text.startsWith(ROOT)) return 'beside the bundle';
  return text === '' || text === 'none' ? 'none' : `\`${text}\``;
};

function table(): string {
  const lines = [...rows()].map(([name, { apps, secret, standard, descs }]) => {
    const who = apps.length === APP_FOLDERS.length ? 'all' : apps.join(', ');
    const meaning =
      descs.size === 1
        ? [...descs.keys()].join()
        : [...descs].map(([desc, readers]) => `${readers.join(', ')}: ${desc}`).join('; ');
    return `| \`${name}\`${secret ? ' (secret)' : ''} | ${who} | ${written(standard)} | ${meaning.replaceAll('|', '\\|')} |`;
  });
  const text = [
    INTRODUCTION,
    '| variable | read by | default | meaning |',
    '| --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
  const prettier = join(ROOT, 'node_modules/prettier/bin/prettier.cjs');
  return execFileSync(process.execPath, [prettier, '--stdin-filepath', FILE], {
    input: text,
    encoding: 'utf8',
  });
}

/** `UPDATE=1 npx jest tools/containers/test/configuration` regenerates the file. */
it('docs/configuration.md has every variable of every app, with its specification', () => {
  const expected = table();
  if (process.env.UPDATE) writeFileSync(FILE, expected);
  expect(readFileSync(FILE, 'utf8')).toBe(expected);
});

/** A default as docs/limits.md writes it. */
const shown = (name: string, standard: number): string =>
  `${(name.endsWith('_MS') ? standard / 1000 : standard).toLocaleString('en-US')} `;

it('docs/limits.md has the default of every setting that it names', () => {
  const settings = rows();
  const limits = readFileSync(join(ROOT, 'docs/limits.md'), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .flatMap(([, , value = '', setting = '']) => {
      const name = /^`(\w+)`$/.exec(setting)?.[1];
      return name ? [{ name, value: `${value} ` }] : [];
    });
  expect(limits.length).toBeGreaterThan(8);
  for (const { name, value } of limits)
    expect([name, value]).toEqual([
      name,
      expect.stringMatching(`^${shown(name, settings.get(name)!.standard as number)}`),
    ]);
});
