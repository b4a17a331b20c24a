import { generateSecrets } from '@perkway/fleet';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeFacts } from '../src/agreement.js';
import { ROOT } from '../src/paths.js';
import { APP_FOLDERS, IMAGE_VARIABLES, neededBy, NODE_VARIABLES, variablesOf } from './app-variables.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface SecretList {
  items: { metadata: { name: string }; stringData: Record<string, string> }[];
}
/** Not imported by name: tools know nothing of each other. */
const { kubernetesSecrets } = jest.requireActual<{
  kubernetesSecrets: (secrets: unknown, overlay: string) => SecretList;
}>(join(ROOT, 'tools/perkway/src/secret-files.ts'));

/** Of the Secrets that `perkway secrets --kubernetes` makes, the keys. */
export const secretKeys = (overlay: string): Record<string, string[]> =>
  Object.fromEntries(
    kubernetesSecrets(generateSecrets(), overlay).items.map(({ metadata, stringData }) => [
      metadata.name,
      Object.keys(stringData),
    ]),
  );

const port = (variable: string): number =>
  Number(new RegExp(`^ +${variable}=(\\d+)`, 'm').exec(read('docker/Dockerfile'))![1]);

/** What apps and images are, by their sources. */
export const codeFacts = (overlay: string): CodeFacts => ({
  apps: APP_FOLDERS,
  variables: new Map(APP_FOLDERS.map((app) => [app, variablesOf(app)])),
  needed: new Map(APP_FOLDERS.map((app) => [app, neededBy(app)])),
  setElsewhere: [...IMAGE_VARIABLES, ...NODE_VARIABLES],
  ports: { http: port('PORT'), metrics: port('METRICS_PORT') },
  healthPaths: [
    ...read('libs/platform/src/metrics/metrics-server.ts').matchAll(/server\.get\('(\/\w+)'/g),
  ].map(([, path]) => path!),
  secrets: secretKeys(overlay),
});
