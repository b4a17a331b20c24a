import type { AppName } from '@perkway/domain';
import {
  appEnvironment,
  APPS,
  databaseUrls,
  FLEET,
  generateSecrets,
  LAST_PORT,
  PORT_OWNERS,
  portOf,
  rolePassword,
} from '../src/index.js';

const secrets = generateSecrets();
const environmentOf = (app: AppName) =>
  appEnvironment(app, {
    port: 4000,
    urls: Object.fromEntries(APPS.map((each) => [each, `http://${each}`])) as Record<AppName, string>,
    database: databaseUrls('postgres://postgres:pw@127.0.0.1:1/postgres', {
      database: 'perkway',
      passwordOf: rolePassword('pw'),
    }),
    natsUrl: 'nats://127.0.0.1:2',
    secrets,
  });

describe('the fleet', () => {
  it('has a unique port for every server', () => {
    expect(PORT_OWNERS.map((owner) => portOf(4000, owner))).toEqual([
      4001, 4002, 4003, 4004, 4005, 4006, 4007, 4010, 4011, 4008, 4009,
    ]);
    expect(LAST_PORT).toBe(Math.max(...PORT_OWNERS.map((owner) => portOf(0, owner))));
  });

  it('has unique hosts, schemas and roles', () => {
    const all = APPS.map((app): { host: string; database?: { schema: string; role: string } } => FLEET[app]);
    for (const names of [
      all.map(({ host }) => host),
      all.flatMap(({ database }) => database?.schema ?? []),
      all.flatMap(({ database }) => database?.role ?? []),
    ])
      expect(new Set(names).size).toBe(names.length);
  });
});

describe('appEnvironment', () => {
  it('has the URL of every app', () => {
    const environment = environmentOf('perks');
    for (const app of APPS) expect(environment[FLEET[app].urlVariable]).toBe(`http://${app}`);
  });

  it('gives each app its own role and only the secrets that it needs', () => {
    const holders = (name: keyof typeof secrets) =>
      APPS.filter((app) => Object.values(environmentOf(app)).includes(secrets[name]));
    expect(holders('linkSigningKeys')).toEqual(['perks', 'links']);
    expect(holders('cardEncryptionKeys')).toEqual(['gift-cards']);
    expect(holders('analyticsTokenKeys')).toEqual(['token-issuer']);
    expect(holders('sessionKeys')).toEqual(['console']);
    expect(holders('adminKey')).toEqual(['token-issuer']);
    expect(holders('superuserPassword')).toEqual([]);
    expect(new URL(environmentOf('gift-cards').DATABASE_URL!).username).toBe('gift_cards');
    expect(environmentOf('allocation-page').DATABASE_URL).toBeUndefined();
    expect(new URL(environmentOf('analytics-query').READER_DATABASE_URL!).username).toBe('analytics_reader');
  });
});
