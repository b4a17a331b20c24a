import type { AppName } from '@perkway/domain';
import { APPS } from '@perkway/fleet';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type BuildOptions } from 'rolldown';
import { documentOf, type AppSources } from './documents.js';

// Writes dist/openapi/<app>.json for every app, the same document as its `/docs-json`.

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const FOLDER = join(ROOT, 'dist/openapi');

/** Bundles the app first: the loader of this script emits no parameter types, which the documents need. */
async function load(app: AppName): Promise<AppSources> {
  const { appConfig } = (await import(pathToFileURL(join(ROOT, 'rolldown.config.mjs')).href)) as {
    appConfig: (app: string) => BuildOptions & { output: object };
  };
  const config = appConfig(app);
  const dir = join(ROOT, '.cache/openapi', app);
  await build({
    ...config,
    cwd: ROOT,
    input: {
      app: `apps/${app}/src/app.ts`,
      env: `apps/${app}/src/env.ts`,
      platform: 'libs/platform/src/index.ts',
    },
    plugins: [],
    output: { ...config.output, dir, sourcemap: false },
  });
  const parts = await Promise.all(
    ['app', 'env', 'platform'].map((part) => import(pathToFileURL(join(dir, `${part}.js`)).href)),
  );
  return Object.assign({}, ...parts) as AppSources;
}

mkdirSync(FOLDER, { recursive: true });
for (const app of APPS) {
  const document = await documentOf(app, await load(app));
  writeFileSync(join(FOLDER, `${app}.json`), `${JSON.stringify(document, null, 2)}\n`);
}
