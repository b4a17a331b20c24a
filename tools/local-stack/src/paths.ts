import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');

/** The catalogue that a stack starts with. */
export const DEMO = join(ROOT, 'examples', 'demo');

/** Returns the bundle of an app that `node` runs. */
export const appScript = (app: string, entry: 'main' | 'migrate'): string =>
  join(ROOT, 'dist', app, `${entry}.js`);
