import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapi, { astToString } from 'openapi-typescript';

// What the console answers to its own pages, from its document in dist/openapi. What the hosts answer, @perkway/client has.

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const document = JSON.parse(readFileSync(join(DIST, 'openapi/console.json'), 'utf8'));

mkdirSync(join(DIST, 'console-types'), { recursive: true });
writeFileSync(join(DIST, 'console-types/index.d.ts'), astToString(await openapi(document)));
