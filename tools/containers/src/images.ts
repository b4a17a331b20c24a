import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from './command.js';
import type { Engine } from './engine.js';
import { ROOT } from './paths.js';

/** The first one downloads all packages. */
const BUILD_LIMIT_MS = 600_000;
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Every image of a folder that holds the repository: one for each app, and the tools. */
const imagesOf = (folder: string): string[] => [
  ...readdirSync(join(folder, 'apps')).filter((app) => existsSync(join(folder, 'apps', app, 'src/main.ts'))),
  'perkway',
];
export const IMAGES = imagesOf(ROOT);

/** The images that a Dockerfile or a compose file starts from, but for our own. */
export function foreignImages(): string[] {
  const dockerfile = readFileSync(join(ROOT, 'docker/Dockerfile'), 'utf8');
  const compose = readFileSync(join(ROOT, 'docker/compose.yaml'), 'utf8');
  return [
    ...[...dockerfile.matchAll(/^ARG NODE_IMAGE=(\S+)/gm)],
    ...[...compose.matchAll(/^ +image: (?!perkway\/)(\S+)/gm)],
  ].map(([, image]) => image!);
}

export const buildArguments = (app: string, tag: string): string[] => [
  ...['--quiet', '--network', 'host', '--file', 'docker/Dockerfile'],
  // Registries behind a proxy with certificates of its own.
  ...(existsSync(CERTIFICATES) ? ['--secret', `id=ca,src=${CERTIFICATES}`] : []),
  ...['--build-arg', `APP=${app}`, '--build-arg', `VERSION=${tag}`, '--tag', `perkway/${app}:${tag}`],
];

/** Builds all images of a folder that holds the repository, and answers which. */
export async function buildImages(engine: Engine, tag: string, folder = ROOT): Promise<string[]> {
  const build = (app: string) =>
    engine.docker(['build', ...buildArguments(app, tag), folder], { cwd: folder, timeoutMs: BUILD_LIMIT_MS });
  const [first, ...others] = imagesOf(folder) as [string, ...string[]];
  // All that they share; the others add a layer each.
  await build(first);
  await Promise.all(others.map(build));
  return [first, ...others];
}

/** Or another one that is to be replaced, such as the last release. */
const PREVIOUS_COMMIT = process.env.PREVIOUS_COMMIT || 'HEAD~1';

/**
 * Builds the images of the commit before, and answers which. None where there is none: a shallow clone, or a commit without
 * images.
 */
export async function buildPrevious(engine: Engine, tag: string): Promise<string[]> {
  const git = (...args: string[]) => command('git', ['-C', ROOT, ...args]);
  const hasImages = await git('cat-file', '-e', `${PREVIOUS_COMMIT}:docker/Dockerfile`).then(
    () => true,
    () => false,
  );
  if (!hasImages) return [];
  const folder = mkdtempSync(join(tmpdir(), 'perkway-previous-'));
  try {
    await git('archive', '--output', join(folder, 'source.tar'), PREVIOUS_COMMIT);
    await command('tar', ['-xf', 'source.tar'], { cwd: folder });
    rmSync(join(folder, 'source.tar'));
    return await buildImages(engine, tag, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the bill of materials of the images, CycloneDX, into a folder. */
export const exportSbom = (engine: Engine, folder: string): Promise<string> =>
  engine.docker(
    [
      'build',
      ...buildArguments('perkway', 'sbom').slice(0, -2),
      '--target',
      'sbom',
      '--output',
      folder,
      ROOT,
    ],
    {
      cwd: ROOT,
      timeoutMs: BUILD_LIMIT_MS,
    },
  );
