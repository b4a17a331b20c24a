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
/** Loaded by path, because tools may not import each other. */
const { kubernetesSecrets } = jest.requireActual<{
  kubernetesSecrets: (secrets: unknown, overlay: string, hasPooler?: boolean) => SecretList;
}>(join(ROOT, 'tools/perkway/src/secret-files.ts'));

/** Returns the keys of each Secret that `perkway secrets --kubernetes` generates. */
export const secretKeys = (overlay: string, hasPooler = false): Record<string, string[]> =>
  Object.fromEntries(
    kubernetesSecrets(generateSecrets(), overlay, hasPooler).items.map(({ metadata, stringData }) => [
      metadata.name,
      Object.keys(stringData),
    ]),
  );

const port = (variable: string): number =>
  Number(new RegExp(`^ +${variable}=(\\d+)`, 'm').exec(read('docker/Dockerfile'))![1]);

/** Returns facts about apps and images from their sources. */
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
