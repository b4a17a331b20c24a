import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = fileURLToPath(new URL('./src/page', import.meta.url));

/** Removes comments and indentation. After compression the result is as small as a minifier's. */
const squeeze = (css) =>
  css
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '')
    .replace(/\s*([{};,])\s*/g, '$1')
    .replace(/: /g, ':');

/** Emits the stylesheets and `manifest.json`, which tells the server the file names of this build. */
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

/** Builds one self-contained script. The two scripts share only types, so nothing is duplicated. */
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
      // A classic script also loads in browsers without module support.
      format: 'iife',
      minify: true,
      entryFileNames: '[name]-[hash].js',
      assetFileNames: '[name]-[hash][extname]',
    },
  });

/**
 * Bundles the browser's files: the page's script, its stylesheet, a small stylesheet for disabled JavaScript, and the
 * script that draws codes, which few cards need.
 */
async function buildPage(outputFolder) {
  const drawing = await buildScript('drawing', 'drawing.ts', outputFolder);
  await buildScript('page', 'main.ts', outputFolder, [stylesheets(drawing.output[0].fileName)]);
}

/** Builds the page into `public` next to `main.js` whenever the app is bundled. */
export const appPlugin = () => ({
  name: 'page',
  async writeBundle({ dir }) {
    await buildPage(join(resolve(root, dir), 'public'));
  },
});
