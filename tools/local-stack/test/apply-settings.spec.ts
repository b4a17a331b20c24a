import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readSettings } from '../src/catalogue/settings.js';

describe('the command line of npm run apply', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'perkway-apply-'));
    const stack = { hosts: { token: 'http://127.0.0.1:1' }, adminKey: 'key-of-the-stack' };
    writeFileSync(join(folder, 'stack.json'), JSON.stringify(stack));
    writeFileSync(join(folder, 'key'), 'key-of-a-file\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (args: string[], env: NodeJS.ProcessEnv = {}) => readSettings(args, env, folder);

  it('means the running stack, or the one that is named', () => {
    const expected = {
      directory: join(folder, 'my'),
      isTrial: false,
      hosts: { token: 'http://127.0.0.1:1' },
      adminKey: 'key-of-the-stack',
    };
    expect(read(['my', '--stack', 'stack.json'])).toEqual(expected);
    expect(read(['my'], { STACK_FILE: 'stack.json' })).toEqual(expected);
    expect(read(['--dry-run', 'my', '--stack=stack.json'])).toEqual({ ...expected, isTrial: true });
    expect(() => read(['my'])).toThrow(/There is no running stack: .*\.local\/stack\.json/);
  });

  it('names hosts elsewhere, with a key from the environment, a file or the line', () => {
    const hosts = ['--host', 'token=https://t.example', '--host', 'perks=https://p.example/x?y=z'];
    expect(read(['my', ...hosts], { ADMIN_KEY: 'key-of-the-environment' })).toMatchObject({
      hosts: { token: 'https://t.example', perks: 'https://p.example/x?y=z' },
      adminKey: 'key-of-the-environment',
    });
    const env = { ADMIN_KEY_FILE: join(folder, 'key') };
    expect(read(['my', ...hosts], env).adminKey).toBe('key-of-a-file');
    expect(read(['my', ...hosts, '--key', 'key-of-the-line'], env).adminKey).toBe('key-of-the-line');
    expect(() => read(['my', ...hosts])).toThrow(/An ADMIN key is needed/);
  });

  it.each([
    [[], /Name one directory/],
    [['a', 'b'], /Name one directory/],
    [['a', '--nonsense'], /nonsense/],
    [['a', '--host', 'perks'], /"perks" is not name=URL/],
    [['a', '--host', 'perks=ftp://x.example'], /is not name=URL/],
    [['a', '--host', 'perks=http://x.example', '--stack', 'stack.json'], /not both/],
  ])('refuses %j and says how it is written', (args, message) => {
    expect(() => read(args, { ADMIN_KEY: 'k' })).toThrow(message);
    expect(() => read(args, { ADMIN_KEY: 'k' })).toThrow(/npm run apply -- <directory>/);
  });
});
