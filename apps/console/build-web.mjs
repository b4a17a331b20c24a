import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const web = fileURLToPath(new URL('./web', import.meta.url));

/** Part of the app's bundle, so that whoever builds the app has built the front end: `web` beside `main.js`. */
export const appPlugin = () => ({
  name: 'web',
  async writeBundle({ dir }) {
    // Loaded only where the console is built.
    const { build } = await import('vite');
    await build({
      root: web,
      configFile: join(web, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: join(resolve(root, dir), 'web'), emptyOutDir: true },
    });
  },
});
