import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { settingOf } from '../src/agreement.js';
import { ROOT } from '../src/paths.js';
import {
  APP_FOLDERS,
  appsWithASchema,
  IMAGE_VARIABLES,
  neededBy,
  NODE_VARIABLES,
  variablesOf,
} from './app-variables.js';

interface Service {
  image: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  command?: string[];
  volumes?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  stop_grace_period?: string;
  profiles?: string[];
}
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { services } = parse(read('docker/compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
};

describe('docker/compose.yaml', () => {
  it.each(APP_FOLDERS)('runs %s with all variables that it needs and none that no app reads', (app) => {
    const service = services[app]!;
    const set = Object.keys(service.environment!);
    const shared = new Set(APP_FOLDERS.flatMap(variablesOf));
    expect(service.image).toBe(`perkway/${app}:\${PERKWAY_VERSION:-local}`);
    expect([...set.map(settingOf), ...IMAGE_VARIABLES]).toEqual(expect.arrayContaining(neededBy(app)));
    expect(set.map(settingOf).filter((name) => !shared.has(name) && !NODE_VARIABLES.includes(name))).toEqual(
      [],
    );
    // Secrets are set per app, so this app must read them.
    const secrets = set.filter((name) => name.endsWith('_FILE')).map(settingOf);
    expect(variablesOf(app)).toEqual(expect.arrayContaining(secrets));
    expect(service.volumes).toContain(`\${PERKWAY_SECRETS:-./secrets}/${app}:/run/secrets/perkway:ro`);
  });

  it.each(appsWithASchema)('migrates the schema of %s before it starts the app', (app) => {
    expect(services[`migrate-${app}`]).toMatchObject({
      image: services[app]!.image,
      command: ['node', 'migrate.js'],
      environment: { DATABASE_URL_FILE: '/run/secrets/perkway/DATABASE_URL' },
      depends_on: { provision: { condition: 'service_completed_successfully' } },
    });
    expect(services[app]!.depends_on).toMatchObject({
      [`migrate-${app}`]: { condition: 'service_completed_successfully' },
    });
  });

  it('provisions the role and the schema of every app with a database', () => {
    const files = appsWithASchema.map((app) => `${app.toUpperCase().replaceAll('-', '_')}_DATABASE_URL_FILE`);
    expect(Object.keys(services.provision!.environment!)).toEqual(expect.arrayContaining(files));
  });

  it.each(Object.keys(services))('%s has a read-only root, no capabilities and a tagged image', (name) => {
    expect(services[name]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      image: expect.stringMatching(/:[^:/]+$/),
    });
  });

  it.each(Object.keys(services))('limits the logs and the memory of %s', (name) => {
    expect(services[name]).toMatchObject({
      logging: {
        driver: 'json-file',
        options: {
          'max-size': expect.stringMatching(/^[1-9]\d*[km]$/),
          'max-file': expect.stringMatching(/^[1-9]\d*$/),
        },
      },
      mem_limit: expect.stringMatching(/^[1-9]\d*[mg]$/),
    });
  });

  it('publishes the proxy, and optionally the monitoring tools, on this machine only', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports);
    expect(published.map(([name]) => name).sort()).toEqual(['grafana', 'prometheus', 'proxy']);
    for (const [, { ports }] of published) expect(ports).toEqual([expect.stringContaining('127.0.0.1:')]);
  });

  it("builds with the certificates of PERKWAY_CA, also from the caller's folder", () => {
    const folder = mkdtempSync(join(tmpdir(), 'perkway-up-'));
    try {
      // Stands in for docker: prints its arguments and fails, so docker/up ends at the first build.
      writeFileSync(join(folder, 'docker'), '#!/bin/sh\necho "$@"\nexit 1\n', { mode: 0o755 });
      const called = (ca: string) =>
        spawnSync(join(ROOT, 'docker/up'), [], {
          cwd: folder,
          env: { PATH: `${folder}:${process.env.PATH}`, PERKWAY_CA: ca },
          encoding: 'utf8',
        }).stdout;
      expect(called('ca.pem')).toContain(`--secret id=ca,src=${folder}/ca.pem`);
      expect(called('/etc/ca.pem')).toContain('--secret id=ca,src=/etc/ca.pem');
      expect(called('')).not.toContain('--secret');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('keeps its secrets out of git', () => {
    for (const file of [
      'docker/secrets/secrets.json',
      'secrets/secrets.json',
      'docker/secrets/perks/DATABASE_URL',
    ])
      expect(execFileSync('git', ['check-ignore', file], { cwd: ROOT, encoding: 'utf8' }).trim()).toBe(file);
  });

  it('has a host name and a backend of the proxy for each app', () => {
    const proxy = read('docker/proxy/haproxy.cfg');
    for (const app of APP_FOLDERS) expect(proxy).toMatch(new RegExp(`server-template \\w+ \\d+ ${app}:8080`));
  });
});
