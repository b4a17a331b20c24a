import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { COMMAND_LINE, readSettings } from '../src/catalogue/settings.js';

describe('the command line of npm run apply', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'perkway-apply-'));
    const stack = { hosts: { token: 'http://127.0.0.1:1' }, adminKey: 'key-of-the-stack' };
    writeFileSync(join(folder, 'stack.json'), JSON.stringify(stack));
    writeFileSync(join(folder, 'key'), 'key-of-a-file\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    readSettings(parseArgs({ ...COMMAND_LINE, args }), env, folder);

  it('uses the running stack, or the one that --stack names', () => {
    const expected = {
      directory: join(folder, 'my'),
      isDryRun: false,
      hosts: { token: 'http://127.0.0.1:1' },
      adminKey: 'key-of-the-stack',
    };
    expect(read(['my', '--stack', 'stack.json'])).toEqual(expected);
    expect(read(['my'], { STACK_FILE: 'stack.json' })).toEqual(expected);
    expect(read(['--dry-run', 'my', '--stack=stack.json'])).toEqual({ ...expected, isDryRun: true });
    expect(() => read(['my'])).toThrow(/No stack is running: cannot read .*\.local\/stack\.json/);
  });

  it('uses hosts elsewhere, with a key from the environment, a file or the command line', () => {
    const hosts = ['--host', 'token=https://t.example', '--host', 'perks=https://p.example/x?y=z'];
    expect(read(['my', ...hosts], { ADMIN_KEY: 'key-of-the-environment' })).toMatchObject({
      hosts: { token: 'https://t.example', perks: 'https://p.example/x?y=z' },
      adminKey: 'key-of-the-environment',
    });
    const env = { ADMIN_KEY_FILE: join(folder, 'key') };
    expect(read(['my', ...hosts], env).adminKey).toBe('key-of-a-file');
    expect(read(['my', ...hosts, '--key', 'key-of-the-line'], env).adminKey).toBe('key-of-the-line');
    expect(() => read(['my', ...hosts])).toThrow(/--host needs an ADMIN key/);
  });

  it.each([
    [[], /Give exactly one directory/],
    [['a', 'b'], /Give exactly one directory/],
    [['a', '--host', 'perks'], /"perks" must have the form name=URL/],
    [['a', '--host', 'perks=ftp://x.example'], /must have the form name=URL/],
    [['a', '--host', 'perks=http://x.example', '--stack', 'stack.json'], /not both/],
  ])('rejects %j', (args, message) => {
    expect(() => read(args, { ADMIN_KEY: 'k' })).toThrow(message);
  });
});
