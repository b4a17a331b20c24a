import { run } from '@perkway/local-servers';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../src/paths.js';
import { installDebian } from '../../src/packages.js';
import { engine } from './engine.js';

const FILE = join(ROOT, 'docker/compose.yaml');
const PROFILES = ['demo', 'observability', 'pooler'];
const ARGS = ['--file', FILE, ...PROFILES.flatMap((profile) => ['--profile', profile]), 'config'];

interface Config {
  services: Record<string, { image: string; command?: unknown; environment?: unknown; user?: string }>;
}
const shown = (text: string) =>
  Object.entries((parse(text) as Config).services)
    .map(([name, { image, command: run, environment, user }]) => ({ name, image, run, environment, user }))
    .sort((a, b) => a.name.localeCompare(b.name));

it('docker/compose.yaml means the same to versions 1 and 2 of compose', async () => {
  await installDebian(['docker-compose'], ['docker-compose']);
  const version = await run('docker-compose', ['version', '--short']);
  // Since release 13, Debian's docker-compose is version 2.
  if (!version.startsWith('1.')) return console.log(`compose version 1 is not installed: ${version.trim()}`);
  const [one, two] = [await run('docker-compose', ARGS), await (await engine()).compose(ARGS)];
  expect(shown(one).length).toBeGreaterThan(15);
  expect(shown(one)).toEqual(shown(two));
});
