import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapi, { astToString } from 'openapi-typescript';

// Generates types of the console's own API from its document in dist/openapi. @perkway/client has those of the other
// hosts.

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const document = JSON.parse(readFileSync(join(DIST, 'openapi/console.json'), 'utf8'));

mkdirSync(join(DIST, 'console-types'), { recursive: true });
writeFileSync(join(DIST, 'console-types/index.d.ts'), astToString(await openapi(document)));
