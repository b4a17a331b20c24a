import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataFolder } from '../src/data-folder';
import { readSettings } from '../src/settings';

describe('the data folder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'perkway-data-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('removes its state with --fresh, so that the demo history is published again', async () => {
    const env = { DATA_DIR: dataDir, STACK_FILE: join(dataDir, 'stack.json') };
    const folder = await DataFolder.open(readSettings(true, env, dataDir), () => undefined);
    const states = ['demo-state.json', 'demo-history.json', 'secrets.json'];
    for (const name of states) writeFileSync(folder.path(name), '{}');
    folder.prepare({ fresh: false });
    expect(states.filter((name) => existsSync(folder.path(name)))).toEqual(states);
    folder.prepare({ fresh: true });
    expect(states.filter((name) => existsSync(folder.path(name)))).toEqual([]);
  });
});
