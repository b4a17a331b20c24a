import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import ts from 'typescript';

// Builds the package as it is published: one code file, the declarations, and the types of the OpenAPI documents.

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROOT = join(SOURCE, '../..');
const TARGET = process.argv[2] ?? join(ROOT, 'dist/client');
const TYPES = join(ROOT, 'dist/client-types');

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });

const bundle = await rolldown({
  cwd: ROOT,
  input: join(SOURCE, 'src/index.ts'),
  platform: 'neutral',
  external: ['openapi-fetch', 'node:crypto'],
});
await bundle.write({ dir: TARGET, format: 'esm', entryFileNames: 'index.js' });
await bundle.close();

const program = ts.createProgram([join(SOURCE, 'src/index.ts')], {
  declaration: true,
  emitDeclarationOnly: true,
  outDir: TARGET,
  rootDir: join(SOURCE, 'src'),
  strict: true,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: ['node'],
  skipLibCheck: true,
  paths: { '@perkway/client/documents': [join(TYPES, 'index.d.ts')] },
});
const { diagnostics } = program.emit();
const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
if (problems.length > 0)
  throw new Error(
    problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')).join('\n'),
  );

mkdirSync(join(TARGET, 'documents'));
for (const name of readdirSync(TYPES)) cpSync(join(TYPES, name), join(TARGET, 'documents', name));
cpSync(join(SOURCE, 'README.md'), join(TARGET, 'README.md'));
// Drop the script that prevents packing the sources.
const manifest = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'));
delete manifest.scripts;
writeFileSync(join(TARGET, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
