import { resolve } from 'node:path';
import { ROOT } from '../src/paths.js';
import { databaseName, readSettings } from '../src/settings.js';
import { table } from '../src/report.js';

const read = (env: Record<string, string>) => readSettings(false, env, '/somewhere');

describe('readSettings', () => {
  it('has the documented defaults', () => {
    expect(read({})).toEqual({
      portBase: 4000,
      dataDir: resolve(ROOT, '.local/data'),
      stackFile: resolve(ROOT, '.local/stack.json'),
      stackFileNamed: false,
      fresh: false,
      databaseUrl: undefined,
      natsUrl: undefined,
    });
  });

  it('keeps the data of stacks with different bases apart', () => {
    expect(read({ PORT_BASE: '5000' }).dataDir).toBe(resolve(ROOT, '.local/data-5000'));
    expect(read({ PORT_BASE: '5000', DATA_DIR: 'mine' }).dataDir).toBe('/somewhere/mine');
    expect(read({ STACK_FILE: 'two.json' })).toMatchObject({
      stackFile: '/somewhere/two.json',
      stackFileNamed: true,
    });
  });

  it.each(['0', '-1', '65525', '4000.5', 'abc', '1e3'])('rejects PORT_BASE=%s', (base) => {
    expect(() => read({ PORT_BASE: base })).toThrow(
      `PORT_BASE must be a number from 1 to 65524; it is "${base}".`,
    );
  });

  it('accepts external servers', () => {
    const [databaseUrl, natsUrl] = ['postgresql://a@b/c', 'nats://d:1'];
    expect(read({ DATABASE_URL: databaseUrl, NATS_URL: natsUrl })).toMatchObject({ databaseUrl, natsUrl });
    expect(() => read({ DATABASE_URL: 'mysql://a' })).toThrow(
      'DATABASE_URL must be a URL that begins with postgres://.',
    );
    expect(() => read({ NATS_URL: 'localhost:4222' })).toThrow(
      'NATS_URL must be a nats:// or tls:// URL, or several separated by commas.',
    );
  });
});

describe('databaseName', () => {
  it.each([
    ['postgres://u@h:1/shop', 'shop'],
    ['postgres://u@h:1/my%20shop?sslmode=disable', 'my shop'],
    ['postgres://u@h:1/postgres', 'perkway'],
    ['postgres://u@h:1', 'perkway'],
  ])('of %s is %s', (url, name) => expect(databaseName(url)).toBe(name));
});

describe('table', () => {
  it('aligns its columns', () => {
    expect(
      table([
        ['a', 'bb'],
        ['long', 'x'],
      ]),
    ).toBe('  a      bb\n  ----   --\n  long   x');
  });
});
