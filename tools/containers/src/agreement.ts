import type { Manifest } from './kubectl.js';
import { workloadsOf, type Container, type Workload } from './workloads.js';

/** Facts from the code, to compare with the manifests. */
export interface CodeFacts {
  apps: string[];
  /** All variables of each app, and those without a default. */
  variables: Map<string, string[]>;
  needed: Map<string, string[]>;
  /** Variables set by the image, or read by Node. */
  setElsewhere: string[];
  /** By port name in the manifests. */
  ports: Record<string, number>;
  healthPaths: string[];
  /** Secrets that `perkway secrets` generates, with their keys. */
  secrets: Record<string, string[]>;
}

const SECRETS_FOLDER = '/run/secrets/perkway/';
const ONLY_FILES = ['NATS_CA_FILE', 'NATS_CREDS_FILE'];

/** Returns the variable that a variable sets: `DATABASE_URL_FILE` sets `DATABASE_URL`. */
export const settingOf = (variable: string): string =>
  ONLY_FILES.includes(variable) ? variable : variable.replace(/_FILE$/, '');

export const appOf = ({ pod }: Workload): string => /perkway\/([\w-]+):/.exec(pod.containers[0]!.image)![1]!;

/** Returns the environment of a container, including its ConfigMaps. */
export function environmentOf(manifests: Manifest[], container: Container): Record<string, string> {
  const maps = (container.envFrom ?? []).flatMap(({ configMapRef }) =>
    Object.entries(
      manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef.name)!
        .data as Record<string, string>,
    ),
  );
  const own = (container.env ?? []).map(({ name, value = '' }): [string, string] => [name, value]);
  return Object.fromEntries([...maps, ...own]);
}

/** Lists the differences between manifests and code. */
export function disagreements(manifests: Manifest[], code: CodeFacts): string[] {
  const apps = workloadsOf(manifests).filter(({ kind }) => kind === 'Deployment');
  const missing = code.apps.filter((app) => !apps.some((each) => appOf(each) === app));
  return [
    ...missing.map((app) => `${app} is not deployed`),
    ...apps.flatMap((each) => ofApp(each, manifests, code).map((problem) => `${each.name}: ${problem}`)),
  ];
}

function ofApp(workload: Workload, manifests: Manifest[], code: CodeFacts): string[] {
  const app = appOf(workload);
  const known = code.variables.get(app);
  if (!known) return [`unknown app ${app}`];
  const container = workload.pod.containers[0]!;
  const environment = environmentOf(manifests, container);
  const set = [...Object.keys(environment).map(settingOf), ...code.setElsewhere];
  const readBySomeApp = new Set([...code.variables.values()].flat().concat(code.setElsewhere, 'DOMAIN'));
  // Variables in the ConfigMap are for all apps.
  const own = (container.env ?? []).map(({ name }) => settingOf(name));
  return [
    ...code.needed
      .get(app)!
      .filter((name) => !set.includes(name))
      .map((name) => `${name} is not set`),
    ...Object.keys(environment)
      .filter((name) => !readBySomeApp.has(settingOf(name)))
      .map((name) => `no app reads ${name}`),
    ...own
      .filter((name) => !known.includes(name) && !code.setElsewhere.includes(name))
      .map((name) => `it does not read ${name}`),
    ...secretProblems(workload, environment, code),
    ...portProblems(container, code),
  ];
}

/** Checks that each secret variable has a mounted Secret with its value, and that no Secret is mounted without use. */
function secretProblems(workload: Workload, environment: Record<string, string>, code: CodeFacts): string[] {
  const sources = workload.pod.volumes?.find(({ name }) => name === 'secrets')?.projected?.sources ?? [];
  const names = sources.flatMap(({ secret }) => secret?.name ?? []);
  const mounted = names.flatMap((name) => code.secrets[name] ?? []);
  const files = Object.entries(environment).filter(([name]) => name !== settingOf(name));
  return [
    ...names.filter((name) => !code.secrets[name]).map((name) => `no command generates the Secret ${name}`),
    ...files
      .filter(([name, file]) => file !== `${SECRETS_FOLDER}${settingOf(name)}`)
      .map(([name, file]) => `${name} is not at ${file}`),
    ...files
      .map(([, file]) => file.slice(SECRETS_FOLDER.length))
      .filter((key) => !mounted.includes(key))
      .map((key) => `no mounted Secret has ${key}`),
    ...mounted
      .filter((key) => !files.some(([name]) => settingOf(name) === key))
      .map((key) => `${key} is mounted but not used`),
  ];
}

function portProblems(container: Container, code: CodeFacts): string[] {
  const ports = Object.fromEntries(
    (container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]),
  );
  const probes = (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).map(
    (name) => [name, container[name]?.httpGet] as const,
  );
  return [
    ...Object.entries(code.ports)
      .filter(([name, port]) => ports[name] !== port)
      .map(([name, port]) => `its port ${name} is not ${port}`),
    ...probes
      .filter(([, get]) => !get || !code.healthPaths.includes(get.path))
      .map(([name, get]) => `its ${name} requests the unknown path ${get?.path}`),
    ...probes
      .filter(([, get]) => get && !(get.port in ports))
      .map(([name, get]) => `its ${name} uses the missing port ${get!.port}`),
  ];
}
