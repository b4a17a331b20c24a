import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = fileURLToPath(new URL('./src/page', import.meta.url));

/** Comments and indentation are for us. What compression makes of the rest is as small as a minifier gets it. */
const squeeze = (css) =>
  css
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '')
    .replace(/\s*([{};,])\s*/g, '$1')
    .replace(/: /g, ':');

/** Adds the stylesheets, and tells the server in `manifest.json` what the files of this build are called. */
const stylesheets = (drawing) => ({
  name: 'page-stylesheets',
  generateBundle(_options, bundle) {
    const emit = (name) => {
      const text = squeeze(readFileSync(join(source, name), 'utf8'));
      return this.getFileName(this.emitFile({ type: 'asset', name, source: text }));
    };
    const manifest = {
      drawing,
      script: Object.values(bundle).find((file) => file.isEntry).fileName,
      style: emit('page.css'),
      noScriptStyle: emit('no-script.css'),
    };
    this.emitFile({ type: 'asset', fileName: 'manifest.json', source: JSON.stringify(manifest) });
  },
});

/** One script. What both of them import is in both, which is nothing but types. */
const buildScript = (name, entry, outputFolder, plugins = []) =>
  build({
    cwd: root,
    input: { [name]: join(source, entry) },
    platform: 'browser',
    tsconfig: join(source, 'tsconfig.json'),
    transform: { target: 'es2017' },
    plugins,
    output: {
      dir: outputFolder,
      // A classic script: browsers that know no modules load it as well.
      format: 'iife',
      minify: true,
      entryFileNames: '[name]-[hash].js',
      assetFileNames: '[name]-[hash][extname]',
    },
  });

/**
 * Bundles what the browser loads: one script and one stylesheet (and a small one for JavaScript off), and the script that
 * draws codes, which few cards need.
 */
async function buildPage(outputFolder) {
  const drawing = await buildScript('drawing', 'drawing.ts', outputFolder);
  await buildScript('page', 'main.ts', outputFolder, [stylesheets(drawing.output[0].fileName)]);
}

/** Part of the app's bundle, so that whoever builds the app has built the page: `public` beside `main.js`. */
export const appPlugin = () => ({
  name: 'page',
  async writeBundle({ dir }) {
    await buildPage(join(resolve(root, dir), 'public'));
  },
});
