import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');

/** The catalogue that a stack begins with. */
export const DEMO = join(ROOT, 'examples', 'demo');

/** What `node` runs for an app. */
export const appScript = (app: string, entry: 'main' | 'migrate'): string =>
  join(ROOT, 'dist', app, `${entry}.js`);
