import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNode } from './node-process.js';

const ROOT = join(__dirname, '../../..');
/** TypeScript 7, which needs a tenth of the time. */
export const COMPILER = join(ROOT, 'node_modules/typescript-native/bin/tsc');

/** Compiles TypeScript files of a browser program under `strict`, and returns the errors. */
export async function typeErrors(files: string[], compilerOptions: object = {}): Promise<string> {
  const folder = mkdtempSync(join(ROOT, '.cache/types-'));
  try {
    const options = {
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      target: 'ES2022',
      lib: ['ES2022', 'DOM', 'DOM.Iterable'],
      module: 'ESNext',
      moduleResolution: 'Bundler',
      types: [],
      ...compilerOptions,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    return (await runNode([COMPILER, '-p', folder])).output;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
