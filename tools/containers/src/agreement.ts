import type { Manifest } from './kubectl.js';
import { workloadsOf, type Container, type Workload } from './workloads.js';

/** What the code says of itself. */
export interface CodeFacts {
  apps: string[];
  /** Every variable that an app reads, and those without a default. */
  variables: Map<string, string[]>;
  needed: Map<string, string[]>;
  /** By the image, or read by Node. */
  setElsewhere: string[];
  /** By the name of the port in the manifests. */
  ports: Record<string, number>;
  healthPaths: string[];
  /** Secrets that can be made, with their keys. */
  secrets: Record<string, string[]>;
}

const SECRETS_FOLDER = '/run/secrets/perkway/';
const ONLY_FILES = ['NATS_CA_FILE', 'NATS_CREDS_FILE'];

/** `DATABASE_URL_FILE` sets `DATABASE_URL`. */
export const settingOf = (variable: string): string =>
  ONLY_FILES.includes(variable) ? variable : variable.replace(/_FILE$/, '');

export const appOf = ({ pod }: Workload): string => /perkway\/([\w-]+):/.exec(pod.containers[0]!.image)![1]!;

/** The variables of a container, those of its ConfigMaps among them. */
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

/** Where manifests and code do not speak of the same; empty if nowhere. */
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
  if (!known) return [`there is no app ${app}`];
  const container = workload.pod.containers[0]!;
  const environment = environmentOf(manifests, container);
  const set = [...Object.keys(environment).map(settingOf), ...code.setElsewhere];
  const anybodys = new Set([...code.variables.values()].flat().concat(code.setElsewhere, 'DOMAIN'));
  // Those of the ConfigMap are everybody's.
  const own = (container.env ?? []).map(({ name }) => settingOf(name));
  return [
    ...code.needed
      .get(app)!
      .filter((name) => !set.includes(name))
      .map((name) => `${name} is not set`),
    ...Object.keys(environment)
      .filter((name) => !anybodys.has(settingOf(name)))
      .map((name) => `nobody reads ${name}`),
    ...own
      .filter((name) => !known.includes(name) && !code.setElsewhere.includes(name))
      .map((name) => `it does not read ${name}`),
    ...secretProblems(workload, environment, code),
    ...portProblems(container, code),
  ];
}

/** Each secret that a variable names is mounted from a Secret that has it, and nobody gets one without use. */
function secretProblems(workload: Workload, environment: Record<string, string>, code: CodeFacts): string[] {
  const sources = workload.pod.volumes?.find(({ name }) => name === 'secrets')?.projected?.sources ?? [];
  const names = sources.flatMap(({ secret }) => secret?.name ?? []);
  const mounted = names.flatMap((name) => code.secrets[name] ?? []);
  const files = Object.entries(environment).filter(([name]) => name !== settingOf(name));
  return [
    ...names.filter((name) => !code.secrets[name]).map((name) => `nobody makes the Secret ${name}`),
    ...files
      .filter(([name, file]) => file !== `${SECRETS_FOLDER}${settingOf(name)}`)
      .map(([name, file]) => `${name} is not at ${file}`),
    ...files
      .map(([, file]) => file.slice(SECRETS_FOLDER.length))
      .filter((key) => !mounted.includes(key))
      .map((key) => `no mounted Secret has ${key}`),
    ...mounted
      .filter((key) => !files.some(([name]) => settingOf(name) === key))
      .map((key) => `it gets ${key} without use`),
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
      .map(([name, get]) => `its ${name} asks ${get?.path}, where nothing is`),
    ...probes
      .filter(([, get]) => get && !(get.port in ports))
      .map(([name, get]) => `its ${name} asks the port ${get!.port}, which it lacks`),
  ];
}
