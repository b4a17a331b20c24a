import type { AppName } from '@perkway/domain';
import { appEnvironment, APPS, databaseUrls, FLEET, generateSecrets, portOf } from '@perkway/fleet';
import type { AppDefinition, loadEnv, makeAppDocument } from '@perkway/platform';

/** The parts of an app that its document is generated from, all from one build or all from the sources. */
export interface AppSources {
  envSpec: Parameters<typeof loadEnv>[0];
  defineApp: (env: never) => AppDefinition;
  loadEnv: typeof loadEnv;
  makeAppDocument: typeof makeAppDocument;
}
export type OpenApiDocument = Awaited<ReturnType<typeof makeAppDocument>>;

const urls = Object.fromEntries(
  APPS.map((app) => [app, `https://${FLEET[app].host}.perkway.example`]),
) as Record<AppName, string>;
/** An address where nothing listens. Nothing connects to it. */
const NOWHERE = '127.0.0.1:9';

/** Generates the document of an app without any server. Its public URL is an example. */
export function documentOf(
  app: AppName,
  { envSpec, defineApp, loadEnv, makeAppDocument }: AppSources,
): Promise<OpenApiDocument> {
  const env = loadEnv(
    envSpec,
    appEnvironment(app, {
      port: portOf(4000, app),
      urls,
      database: databaseUrls(`postgres://${NOWHERE}`, { database: 'none', passwordOf: () => 'none' }),
      natsUrl: `nats://${NOWHERE}`,
      secrets: generateSecrets(),
    }),
  );
  return makeAppDocument(defineApp(env as never));
}
