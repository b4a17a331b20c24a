import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baseUrl, confidential, ConfigError, databaseEnv, loadEnv, platformEnv, secret } from './load-env.js';

const spec = { ...platformEnv, ...databaseEnv, PEPPER: confidential(secret()), PERKS_URL: baseUrl() };
const complete = {
  PORT: '4001',
  NATS_URL: 'nats://127.0.0.1:4009',
  DATABASE_URL: 'postgres://perks:password@127.0.0.1/perkway',
  PEPPER: 'a secret of thirty-two characters',
  PERKS_URL: 'https://perks.example/',
};
const messageFor = (change: Record<string, string | undefined>): string => {
  try {
    loadEnv(spec, { ...complete, ...change });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return 'accepted';
};

describe('loadEnv', () => {
  it('converts every value to its type and fills in defaults', () => {
    expect(loadEnv(spec, complete)).toMatchObject({
      PORT: 4001,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      NODE_ENV: 'production',
      TRUSTED_PROXIES: [],
      SHUTDOWN_DELAY_MS: 0,
      DATABASE_POOL_SIZE: 10,
      PERKS_URL: 'https://perks.example',
    });
  });

  it('returns a plain object without other variables', () => {
    const env = loadEnv(spec, { ...complete, OTHER: 'x' }) as Record<string, unknown>;
    expect(env.OTHER).toBeUndefined();
    expect(env.constructor).toBe(Object);
  });

  it('reads a list of proxies', () => {
    const { TRUSTED_PROXIES } = loadEnv(spec, {
      ...complete,
      TRUSTED_PROXIES: ' 10.0.0.0/8,::1 , fd00::/8,',
    });
    expect(TRUSTED_PROXIES).toEqual(['10.0.0.0/8', '::1', 'fd00::/8']);
  });

  it('names all invalid or missing variables in one sentence', () => {
    expect(messageFor({ PORT: undefined, NATS_URL: undefined, PEPPER: 'short' })).toBe(
      'Invalid environment: PORT is missing; NATS_URL is missing; PEPPER is invalid (must have at least 32 characters).',
    );
  });

  it.each([
    ['PORT', 'http'],
    ['PORT', '70000'],
    ['LOG_LEVEL', 'loud'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', 'proxy.internal'],
    ['NATS_URL', 'http://127.0.0.1'],
    ['NATS_URL', ''],
    ['NATS_URL', 'nats://a:1,tls://b:1'],
    ['DATABASE_URL', 'mysql://127.0.0.1'],
    ['DATABASE_POOL_SIZE', 'ten'],
    ['PERKS_URL', 'perks.example'],
    ['PERKS_URL', 'https://'],
    ['PEPPER', ''],
  ])('rejects %s=%s', (name, value) => {
    expect(messageFor({ [name]: value })).toMatch(
      new RegExp(`^Invalid environment: ${name} is (invalid|missing)[^;]*\\.$`),
    );
  });

  describe('secrets in files', () => {
    let folder: string;
    const file = (text: string) => {
      const path = join(folder, 'secret');
      writeFileSync(path, text);
      return path;
    };
    beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'perkway-env-'))));
    afterEach(() => rmSync(folder, { recursive: true }));

    it('are read without the final line break', () => {
      const change = { PEPPER: undefined, PEPPER_FILE: file(`${complete.PEPPER}\n`) };
      expect(loadEnv(spec, { ...complete, ...change }).PEPPER).toBe(complete.PEPPER);
    });

    it('are validated like other values', () => {
      expect(messageFor({ PEPPER: undefined, PEPPER_FILE: file('hunter2') })).toBe(
        'Invalid environment: PEPPER is invalid (must have at least 32 characters).',
      );
    });

    it('are rejected if the variable is set, too, or the file is missing', () => {
      expect(messageFor({ PEPPER_FILE: file('x') })).toContain('PEPPER and PEPPER_FILE exclude each other');
      expect(messageFor({ PEPPER: undefined, PEPPER_FILE: join(folder, 'none') })).toBe(
        'Invalid environment: PEPPER_FILE cannot be read (ENOENT).',
      );
    });

    it('are the only variables that can come from files', () => {
      expect(messageFor({ PORT: undefined, PORT_FILE: file('4001') })).toContain('PORT is missing');
    });
  });

  it('repeats no value that may be secret', () => {
    for (const name of [
      'PORT',
      'LOG_LEVEL',
      'NATS_URL',
      'DATABASE_URL',
      'DATABASE_POOL_SIZE',
      'PERKS_URL',
      'PEPPER',
    ])
      expect(messageFor({ [name]: 'hunter2-in-here' })).not.toContain('hunter2');
  });
});
