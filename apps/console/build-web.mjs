import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const web = fileURLToPath(new URL('./web', import.meta.url));

/**
 * Rollup plugin that builds the front end into `web` beside `main.js`, so that building the app also builds its pages.
 */
export const appPlugin = () => ({
  name: 'web',
  async writeBundle({ dir }) {
    // Imported lazily, so that only builds of the console load Vite.
    const { build } = await import('vite');
    await build({
      root: web,
      configFile: join(web, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: join(resolve(root, dir), 'web'), emptyOutDir: true },
    });
  },
});
