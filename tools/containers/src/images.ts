import { run } from '@perkway/local-servers';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from './engine.js';
import { ROOT } from './paths.js';

/** The first build downloads all packages. */
const BUILD_LIMIT_MS = 600_000;
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Returns the images to build from a copy of the repository: one per app, and the tools. */
const imagesOf = (folder: string): string[] => [
  ...readdirSync(join(folder, 'apps')).filter((app) => existsSync(join(folder, 'apps', app, 'src/main.ts'))),
  'perkway',
];
export const IMAGES = imagesOf(ROOT);

/** Returns the third-party images that the Dockerfile and the compose file use. */
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
  // For registries behind a proxy with its own certificates.
  ...(existsSync(CERTIFICATES) ? ['--secret', `id=ca,src=${CERTIFICATES}`] : []),
  ...['--build-arg', `APP=${app}`, '--build-arg', `VERSION=${tag}`, '--tag', `perkway/${app}:${tag}`],
];

/** Builds all images from a copy of the repository, and returns their names. */
export async function buildImages(engine: Engine, tag: string, folder = ROOT): Promise<string[]> {
  const build = (app: string) =>
    engine.docker(['build', ...buildArguments(app, tag), folder], { cwd: folder, timeoutMs: BUILD_LIMIT_MS });
  const [first, ...others] = imagesOf(folder) as [string, ...string[]];
  // The first build makes the shared layers; the others add one each.
  await build(first);
  await Promise.all(others.map(build));
  return [first, ...others];
}

/** The commit to update from; may be set to the last release. */
const PREVIOUS_COMMIT = process.env.PREVIOUS_COMMIT || 'HEAD~1';

/**
 * Builds the images of the previous commit, and returns their names. Returns none in a shallow clone, or if that commit
 * has no images.
 */
export async function buildPrevious(engine: Engine, tag: string): Promise<string[]> {
  const git = (...args: string[]) => run('git', ['-C', ROOT, ...args]);
  const hasImages = await git('cat-file', '-e', `${PREVIOUS_COMMIT}:docker/Dockerfile`).then(
    () => true,
    () => false,
  );
  if (!hasImages) return [];
  const folder = mkdtempSync(join(tmpdir(), 'perkway-previous-'));
  try {
    await git('archive', '--output', join(folder, 'source.tar'), PREVIOUS_COMMIT);
    await run('tar', ['-xf', 'source.tar'], { cwd: folder });
    rmSync(join(folder, 'source.tar'));
    return await buildImages(engine, tag, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the CycloneDX bill of materials of the images into a folder. */
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
