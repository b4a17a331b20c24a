import { APPS } from '@perkway/fleet';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { documentFromSources } from './sources';

// Inside the repository, so that packages resolve.
const FOLDER = join(__dirname, '../../../.cache/openapi/types');
const GENERATOR = join(__dirname, '../../../node_modules/openapi-typescript/bin/cli.js');
const CONSUMER = join(__dirname, '../consumer/consumer.ts');

describe('a client with types generated from the documents', () => {
  beforeAll(async () => {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    const apis: Record<string, object> = {};
    for (const app of APPS) {
      writeFileSync(join(FOLDER, `${app}.json`), JSON.stringify(await documentFromSources(app)));
      apis[app] = { root: `${app}.json`, 'x-openapi-ts': { output: `${app}.ts` } };
    }
    // One process generates all of them.
    writeFileSync(join(FOLDER, 'redocly.yaml'), JSON.stringify({ apis }));
    execFileSync(process.execPath, [GENERATOR], { cwd: FOLDER, stdio: 'pipe' });
  }, 120_000);

  it('compiles under strict', () => {
    const program = ts.createProgram([...APPS.map((app) => join(FOLDER, `${app}.ts`)), CONSUMER], {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
      paths: { '@perkway/types/*': [join(FOLDER, '*')] },
    });
    const problems = ts
      .getPreEmitDiagnostics(program)
      .map(
        ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      );
    expect(problems).toEqual([]);
  }, 120_000);
});
