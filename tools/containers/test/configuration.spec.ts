import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/paths.js';
import { APP_FOLDERS, specOf } from './app-variables.js';

const FILE = join(ROOT, 'docs/configuration.md');
const INTRODUCTION = `# Configuration

Every variable that an app reads, from the specifications in \`libs/*\` and \`apps/*/src/env.ts\`, which are the source of this table. All are read and
checked once, at the start: a wrong or missing one ends it with one sentence. A **secret** may come from the file that \`<NAME>_FILE\` names instead.
Where there is no default the variable has to be set. What the images set is in [deploy.md](deploy.md#images); what \`npm start\` reads in
[local-stack.md](local-stack.md#options).
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
  // A folder of the build.
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
