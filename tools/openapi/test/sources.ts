import type { AppName } from '@perkway/domain';
import { loadEnv, makeAppDocument } from '@perkway/platform';
import { join } from 'node:path';
import { documentOf, type AppSources, type OpenApiDocument } from '../src/documents';

export const APPS_FOLDER = join(__dirname, '../../../apps');

/** Loads an app's sources by path, because apps cannot be imported by name. */
export async function sourcesOf(app: AppName): Promise<AppSources> {
  const folder = join(APPS_FOLDER, app, 'src');
  const [{ defineApp }, { envSpec }] = await Promise.all([
    import(join(folder, 'app')),
    import(join(folder, 'env')),
  ]);
  return { defineApp, envSpec, loadEnv, makeAppDocument };
}

const documents = new Map<AppName, Promise<OpenApiDocument>>();

/** Generates the document of an app once per test file. */
export function documentFromSources(app: AppName): Promise<OpenApiDocument> {
  let document = documents.get(app);
  if (!document) documents.set(app, (document = sourcesOf(app).then((sources) => documentOf(app, sources))));
  return document;
}
