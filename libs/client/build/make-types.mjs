import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapi, { astToString } from 'openapi-typescript';

// Generates the types of each host's operations from the OpenAPI documents in dist/openapi.

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const FOLDER = join(ROOT, 'dist/client-types');

/** App by its name in the client. */
const APPS = {
  perks: 'perks',
  boost: 'boost',
  gift: 'gift-cards',
  token: 'token-issuer',
  analytics: 'analytics-query',
  events: 'events',
};

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const [host, app] of Object.entries(APPS)) {
  const document = JSON.parse(readFileSync(join(ROOT, `dist/openapi/${app}.json`), 'utf8'));
  writeFileSync(join(FOLDER, `${host}.d.ts`), astToString(await openapi(document)));
}
const hosts = Object.keys(APPS);
const withProblems = hosts.filter((host) =>
  readFileSync(join(FOLDER, `${host}.d.ts`), 'utf8').includes(' Problem: {'),
);
writeFileSync(
  join(FOLDER, 'index.d.ts'),
  [
    ...hosts.map((host) => `import type * as ${host} from './${host}.js';`),
    'export interface Documents {',
    ...hosts.map((host) => `  ${host}: ${host}.operations;`),
    '}',
    `export type ErrorCode = ${withProblems.map((host) => `${host}.components['schemas']['Problem']['code']`).join(' | ')};`,
    '',
  ].join('\n'),
);
