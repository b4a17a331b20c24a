import { render, type Manifest } from '../../src/kubectl.js';
import { workloadsOf, type Container, type Workload } from '../../src/workloads.js';
import {
  APP_FOLDERS,
  appsWithASchema,
  IMAGE_VARIABLES,
  neededBy,
  NODE_VARIABLES,
  settingOf,
  variablesOf,
} from '../app-variables.js';

/** Seconds: how long an app drains at most, and what is left to it after that. */
const DRAIN = 10;
const SPARE = 5;

/** The apps that keep tracking events in a table until they are published. */
const OUTBOXES = ['perks', 'links', 'boost', 'gift-cards'];

const overlays = ['production', 'local'];
const rendered = new Map<string, Manifest[]>();
beforeAll(async () => {
  for (const overlay of overlays) rendered.set(overlay, await render(`k8s/overlays/${overlay}`));
});

const workloads = (overlay: string) => workloadsOf(rendered.get(overlay)!);
const containers = (overlay: string): [Workload, Container][] =>
  workloads(overlay).flatMap((workload) =>
    workload.pod.containers.map((container): [Workload, Container] => [workload, container]),
  );
const apps = (overlay: string) => workloads(overlay).filter(({ kind }) => kind === 'Deployment');
const imageOf = ({ pod }: Workload) => /perkway\/([\w-]+):/.exec(pod.containers[0]!.image)![1]!;
const ofKind = (overlay: string, kind: string) =>
  rendered.get(overlay)!.filter((manifest) => manifest.kind === kind);

function environmentOf(overlay: string, container: Container): Record<string, string> {
  const maps = (container.envFrom ?? []).flatMap(({ configMapRef }) =>
    Object.entries(
      ofKind(overlay, 'ConfigMap').find(({ metadata }) => metadata.name === configMapRef.name)!
        .data as Record<string, string>,
    ),
  );
  return Object.fromEntries([
    ...maps,
    ...(container.env ?? []).map(({ name, value = '' }): [string, string] => [name, value]),
  ]);
}

/** The Secrets that production expects, and their keys; docs/deploy.md prints the same table. */
const SECRETS: Record<string, string[]> = {
  perks: ['DATABASE_URL', 'NATS_PASSWORD'],
  links: ['DATABASE_URL', 'NATS_PASSWORD'],
  boost: ['DATABASE_URL', 'NATS_PASSWORD', 'OUTREACH_SIGNING_KEYS', 'PIXEL_HASH_KEY'],
  'gift-cards': [
    'DATABASE_URL',
    'NATS_PASSWORD',
    'REWARD_TOKEN_KEYS',
    'CARD_ENCRYPTION_KEYS',
    'CARD_HASH_KEY',
  ],
  'allocation-page': ['NATS_PASSWORD'],
  'token-issuer': ['DATABASE_URL', 'NATS_PASSWORD', 'ANALYTICS_TOKEN_KEYS', 'BOOTSTRAP_ADMIN_KEY'],
  'analytics-query': ['DATABASE_URL', 'READER_DATABASE_URL', 'NATS_PASSWORD'],
  'api-keys': ['API_KEY_PEPPER'],
  'click-signing': ['LINK_SIGNING_KEYS'],
};

describe.each(overlays)('the overlay %s', (overlay) => {
  it('runs every app of the repository', () => {
    expect([...new Set(apps(overlay).map(imageOf))].sort()).toEqual([...APP_FOLDERS].sort());
  });

  it('runs nothing as root, with capabilities, a writable root, or an image without a tag', () => {
    for (const [{ name, pod }, container] of containers(overlay)) {
      expect({ name, ...pod.securityContext }).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect({ name, ...container.securityContext }).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.image).toMatch(/:[\w][\w.-]*$|@sha256:/);
      expect(container.image).not.toMatch(/:latest$/);
      expect(pod.automountServiceAccountToken).toBe(false);
    }
    expect(JSON.stringify(rendered.get(overlay))).not.toMatch(
      /"runAsNonRoot":false|hostNetwork|hostPath|privileged/,
    );
  });

  it('leaves the user of the apps to the cluster', () => {
    for (const { pod } of apps(overlay)) expect(JSON.stringify(pod)).not.toContain('runAsUser');
  });

  it('says how much each container may take', () => {
    for (const [{ name }, container] of containers(overlay)) {
      expect({ name, ...container.resources }).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
      const heap = /max-old-space-size=(\d+)/.exec(environmentOf(overlay, container).NODE_OPTIONS ?? '')?.[1];
      // What an app needs beside its heap.
      if (heap)
        expect(Number(heap) + 90).toBeLessThanOrEqual(Number.parseInt(container.resources.limits.memory!));
    }
  });

  it('asks each app whether it lives and is ready, at addresses that it has, with time to answer', () => {
    for (const { pod } of apps(overlay)) {
      const [container] = pod.containers as [Container];
      const ports = container.ports!.map(({ name }) => name);
      for (const [probe, path] of [
        ['startupProbe', '/livez'],
        ['livenessProbe', '/livez'],
        ['readinessProbe', '/readyz'],
      ] as const) {
        expect(container[probe]).toMatchObject({ httpGet: { path }, timeoutSeconds: expect.any(Number) });
        expect(ports).toContain(container[probe]!.httpGet!.port);
        // The app's own answer to a slow database takes 0.8 s.
        expect(container[probe]!.timeoutSeconds).toBeGreaterThan(1);
      }
      expect(container.ports).toEqual([
        { name: 'http', containerPort: 8080 },
        { name: 'metrics', containerPort: 9090 },
      ]);
    }
  });

  it('gives each app the time to drain', () => {
    for (const { pod } of apps(overlay)) {
      const [container] = pod.containers as [Container];
      const delay = Number(environmentOf(overlay, container).SHUTDOWN_DELAY_MS) / 1000;
      const sleep = container.lifecycle!.preStop!.sleep!.seconds;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + delay + DRAIN + SPARE);
    }
  });

  it('sets what each app needs, and nothing that it does not know', () => {
    const shared = new Set(APP_FOLDERS.flatMap(variablesOf));
    for (const workload of apps(overlay)) {
      const [container] = workload.pod.containers as [Container];
      const app = imageOf(workload);
      const set = Object.keys(environmentOf(overlay, container))
        .filter((name) => name !== 'DOMAIN')
        .map(settingOf);
      expect([...set, ...IMAGE_VARIABLES]).toEqual(expect.arrayContaining(neededBy(app)));
      expect(set.filter((name) => !shared.has(name) && !NODE_VARIABLES.includes(name))).toEqual([]);
      const own = (container.env ?? [])
        .map(({ name }) => settingOf(name))
        .filter((name) => !NODE_VARIABLES.includes(name));
      expect(variablesOf(app)).toEqual(expect.arrayContaining(own));
    }
  });

  it('mounts each secret that a variable names, from a Secret that has it', () => {
    for (const workload of apps(overlay)) {
      const [container] = workload.pod.containers as [Container];
      const sources = workload.pod.volumes!.find(({ name }) => name === 'secrets')!.projected!.sources;
      const keys = sources.flatMap(({ secret }) => SECRETS[secret!.name!] ?? []);
      const files = Object.entries(environmentOf(overlay, container)).filter(
        ([name]) => name !== settingOf(name),
      );
      for (const [name, file] of files) {
        expect(file).toBe(`/run/secrets/perkway/${settingOf(name)}`);
        expect(keys).toContain(settingOf(name));
      }
      // Nobody gets a secret without use.
      expect(files.map(([name]) => settingOf(name)).sort()).toEqual([...keys].sort());
    }
  });

  it('migrates each schema by the image that it starts', () => {
    const jobs = workloads(overlay).filter(({ name }) => name.startsWith('migrate'));
    expect(jobs.map(({ name }) => name.slice('migrate '.length)).sort()).toEqual([...appsWithASchema].sort());
    for (const job of jobs) {
      const app = apps(overlay).find((each) => imageOf(each) === job.name.slice('migrate '.length))!;
      expect(job.pod.containers[0]).toMatchObject({
        image: app.pod.containers[0]!.image,
        args: ['node', 'migrate.js'],
      });
      expect(job.labels['app.kubernetes.io/component']).toBe('migration');
    }
  });

  it('holds no Secret, and refers to those that docs/deploy.md lists', () => {
    expect(ofKind(overlay, 'Secret')).toEqual([]);
  });

  it('sends a Service to its app only, on ports that it has', () => {
    for (const service of ofKind(overlay, 'Service')) {
      const { selector, ports } = service.spec as {
        selector: Record<string, string>;
        ports: { targetPort: string }[];
      };
      const chosen = workloads(overlay).filter(({ labels }) =>
        Object.entries(selector).every(([key, value]) => labels[key] === value),
      );
      if (selector['cnpg.io/cluster'] && overlay === 'production') continue;
      expect(chosen.map(({ kind }) => kind)).toEqual([expect.stringMatching(/Deployment|StatefulSet/)]);
      const names = chosen[0]!.pod.containers[0]!.ports!.map(({ name }) => name);
      for (const { targetPort } of ports) expect(names).toContain(targetPort);
    }
  });
});

describe('the overlay production', () => {
  it('names the Jobs after the release that it starts', () => {
    const [version] = /[^:]+$/.exec(apps('production')[0]!.pod.containers[0]!.image)!;
    for (const { metadata } of ofKind('production', 'Job'))
      expect(metadata.name).toMatch(new RegExp(`\\.${version.replaceAll('.', '\\.')}$`));
    for (const [, { image }] of containers('production').filter(([, { image }]) =>
      image.includes('perkway/'),
    ))
      expect(image).toMatch(new RegExp(`:${version}$`));
  });

  it('runs two replicas of each app at least, scales them, and lets one go at a time', () => {
    for (const { name } of apps('production')) {
      expect(
        ofKind('production', 'HorizontalPodAutoscaler').find(({ metadata }) => metadata.name === name),
      ).toMatchObject({
        spec: { minReplicas: 2, scaleTargetRef: { kind: 'Deployment', name } },
      });
      expect(
        ofKind('production', 'PodDisruptionBudget').find(({ metadata }) => metadata.name === name),
      ).toMatchObject({
        spec: { maxUnavailable: 1, selector: { matchLabels: { 'app.kubernetes.io/name': name } } },
      });
    }
  });

  it('opens fewer connections than the database takes, with every app at its most during a rollout', () => {
    /** Of one replica, beside DATABASE_POOL_SIZE: its outbox, and the reader with its default. */
    const more = (app: string, roles = '') =>
      (OUTBOXES.includes(app) ? 3 : 0) + (roles.includes('query') ? 8 : 0);
    const ofApps = apps('production')
      .filter((each) => appsWithASchema.includes(imageOf(each)))
      .map((each) => {
        const { DATABASE_POOL_SIZE, ANALYTICS_ROLES } = environmentOf('production', each.pod.containers[0]!);
        const { spec } = ofKind('production', 'HorizontalPodAutoscaler').find(
          ({ metadata }) => metadata.name === each.name,
        ) as { spec?: { maxReplicas: number } };
        return (spec!.maxReplicas + 1) * (Number(DATABASE_POOL_SIZE) + more(imageOf(each), ANALYTICS_ROLES));
      });
    // Two of each migration and of provisioning.
    const ofJobs = (appsWithASchema.length + 1) * 2;
    const [cluster] = ofKind('production', 'Cluster');
    const { postgresql } = cluster!.spec as { postgresql: { parameters: { max_connections: string } } };
    const sum = [...ofApps, ofJobs].reduce((a, b) => a + b);
    expect(sum).toBeGreaterThan(200);
    expect(sum).toBeLessThan(Number(postgresql.parameters.max_connections));
  });

  it('counts in one Deployment and answers queries in another', () => {
    const roles = apps('production')
      .filter((each) => imageOf(each) === 'analytics-query')
      .map((each) => [each.name, environmentOf('production', each.pod.containers[0]!).ANALYTICS_ROLES]);
    expect(roles).toEqual([
      ['analytics-ingest', 'ingest'],
      ['analytics-query', 'query'],
    ]);
  });
});
