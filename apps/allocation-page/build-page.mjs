import { readFileSync } from 'node:fs';
import { build } from 'rolldown';

const source = new URL('./src/page/', import.meta.url);

/** Comments and indentation are for us. What compression makes of the rest is as small as a minifier gets it. */
const squeeze = (css) =>
  css
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '')
    .replace(/\s*([{};,])\s*/g, '$1')
    .replace(/: /g, ':');

const stylesheets = {
  name: 'page-stylesheets',
  generateBundle() {
    for (const name of ['page.css', 'no-script.css'])
      this.emitFile({ type: 'asset', name, source: squeeze(readFileSync(new URL(name, source), 'utf8')) });
  },
};

/** Bundles what the browser loads: one script and one stylesheet (and a small one for JavaScript off). */
const buildPage = (outputFolder) =>
  build({
    input: { page: new URL('main.ts', source).pathname },
    platform: 'browser',
    tsconfig: new URL('tsconfig.json', source).pathname,
    transform: { target: 'es2017' },
    plugins: [stylesheets],
    output: {
      dir: outputFolder,
      // A classic script: browsers that know no modules load it as well.
      format: 'iife',
      minify: true,
      entryFileNames: '[name]-[hash].js',
      assetFileNames: '[name]-[hash][extname]',
    },
  });

/** Part of the app's bundle, so that whoever builds the app has built the page: `public` beside `main.js`. */
export const appPlugin = () => ({
  name: 'page',
  async writeBundle({ dir }) {
    await buildPage(`${dir}/public`);
  },
});
