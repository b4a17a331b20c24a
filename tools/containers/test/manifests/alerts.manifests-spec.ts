import { run } from '@perkway/local-servers';
import { join } from 'node:path';
import { unpackDebian } from '../../src/packages.js';
import { ROOT } from '../../src/paths.js';

const promtool = async (...args: string[]): Promise<string> =>
  run(join(await unpackDebian(['prometheus']), 'usr/bin/promtool'), args, {
    cwd: join(ROOT, 'docker/observability'),
  });

describe('the alerts', () => {
  it('are valid rules in a valid Prometheus configuration', async () => {
    expect(await promtool('check', 'config', 'prometheus.yaml')).toMatch(/SUCCESS: \d+ rules found/);
  });

  it('fire when they should, and not otherwise', async () => {
    expect(await promtool('test', 'rules', 'alerts.test.yaml')).toMatch(/SUCCESS/);
  });
});
