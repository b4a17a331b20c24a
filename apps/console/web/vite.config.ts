import react from '@vitejs/plugin-react';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Writes compressed copies beside the files, so that the server compresses nothing. */
const compressed = (): Plugin => ({
  name: 'compressed',
  async writeBundle({ dir }) {
    const folder = join(dir!, 'assets');
    const texts = (await readdir(folder)).filter((name) => /\.(js|css|svg)$/.test(name));
    await Promise.all(
      texts.map(async (name) => {
        const file = join(folder, name);
        const content = await readFile(file);
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content));
        await writeFile(`${file}.gz`, await promisify(gzip)(content));
      }),
    );
  },
});

export default defineConfig({
  plugins: [react(), compressed()],
  resolve: {
    tsconfigPaths: true,
    alias: {
      // The parser's build without Node's Buffer.
      'csv-parse/sync': 'csv-parse/browser/esm/sync',
      // The pages of Documentation.
      '@docs': fileURLToPath(new URL('../../../docs', import.meta.url)),
      '@client': fileURLToPath(new URL('../../../libs/client', import.meta.url)),
    },
  },
  build: {
    target: 'es2022',
    // Inline nothing: the content security policy allows no inline script or style, and no data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
  },
});
