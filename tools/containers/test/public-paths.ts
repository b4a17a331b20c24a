import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/paths.js';

const HOST_OF = /server-template (\w+) \d+ ([\w-]+):8080/g;

/** The app behind each host name, from the proxy's configuration. */
export const appOfHost = new Map(
  [...readFileSync(join(ROOT, 'docker/proxy/haproxy.cfg'), 'utf8').matchAll(HOST_OF)].map(([, host, app]) => [
    host!,
    app!,
  ]),
);

/** Public path prefixes by app, which match at a slash. */
export const publicPaths = new Map<string, string[]>();
for (const line of readFileSync(join(ROOT, 'docker/proxy/public-paths.lst'), 'utf8').split('\n')) {
  const [, host, path] = /^(\w+)(\/.*)$/.exec(line) ?? [];
  if (!host) continue;
  const app = appOfHost.get(host)!;
  publicPaths.set(app, [...(publicPaths.get(app) ?? []), path === '/' ? '/' : path!.replace(/\/$/, '')]);
}
