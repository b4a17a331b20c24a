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

export const documentFromSources = async (app: AppName): Promise<OpenApiDocument> =>
  documentOf(app, await sourcesOf(app));
