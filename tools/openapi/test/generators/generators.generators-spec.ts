import { APPS } from '@perkway/fleet';
import { run } from '@perkway/local-servers';
import { typeErrors } from '@perkway/testing';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../../..');
const FOLDER = join(ROOT, '.cache/openapi/generators');
const PACKAGES = join(__dirname, '../../generators');
const INSTALLED = join(FOLDER, 'installed');
const DOCUMENTS = join(ROOT, 'dist/openapi');

const runIn = (cwd: string, command: string, ...args: string[]) =>
  run(command, args, { cwd, timeoutMs: 120_000 });
const make = (command: string, ...args: string[]) => runIn(FOLDER, command, ...args);
const installed = (name: string) => join(INSTALLED, 'node_modules/.bin', name);

/** By generator: generates the client of a document in a folder, as `<app>/index.ts` or `<app>.ts`. */
const GENERATORS: Record<string, (document: string, folder: string, app: string) => Promise<string>> = {
  'openapi-typescript': (document, folder, app) =>
    make(join(ROOT, 'node_modules/.bin/openapi-typescript'), document, '-o', join(folder, `${app}.ts`)),
  '@hey-api/openapi-ts': (document, folder, app) =>
    make(installed('openapi-ts'), '-i', document, '-o', join(folder, app), '-c', '@hey-api/client-fetch'),
  orval: (document, folder, app) =>
    make(installed('orval'), '--input', document, '--output', join(folder, `${app}.ts`), '--client', 'fetch'),
  'swagger-typescript-api': (document, folder, app) =>
    make(
      installed('swagger-typescript-api'),
      ...['generate', '-p', document, '-o', folder, '-n', `${app}.ts`],
    ),
};

beforeAll(async () => {
  const lock = readFileSync(join(PACKAGES, 'package-lock.json'), 'utf8');
  // Written last, so that a half-made folder is not used.
  const marker = join(INSTALLED, 'complete');
  if (!existsSync(marker) || readFileSync(marker, 'utf8') !== lock) {
    rmSync(INSTALLED, { recursive: true, force: true });
    cpSync(PACKAGES, INSTALLED, { recursive: true });
    const install = () =>
      make('npm', 'ci', '--prefix', INSTALLED, '--ignore-scripts', '--no-audit', '--no-fund');
    // npm sometimes never exits.
    await install().catch((error: Error) => {
      if (!error.message.includes('took longer')) throw error;
      return install();
    });
    writeFileSync(marker, lock);
  }
  await runIn(ROOT, process.execPath, '--import', 'tsx', 'tools/openapi/src/main.ts');
});

describe('a client of every document, made by', () => {
  it.each(Object.entries(GENERATORS))('%s, compiles under strict', async (name, generate) => {
    const folder = join(FOLDER, name.replace('/', '-'));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const app of APPS) await generate(join(DOCUMENTS, `${app}.json`), folder, app);
    const files = APPS.map((app) =>
      existsSync(join(folder, app)) ? join(folder, app, 'index.ts') : join(folder, `${app}.ts`),
    );
    expect(await typeErrors(files)).toBe('');
  });
});
