import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { render, type Manifest } from '../../src/kubectl.js';
import { ROOT } from '../../src/paths.js';
import { workloadsOf, type Container, type Workload } from '../../src/workloads.js';
import { appOf, disagreements, environmentOf as environmentIn } from '../../src/agreement.js';
import { appsWithASchema } from '../app-variables.js';
import { codeFacts, secretKeys } from '../code-facts.js';

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
const ofKind = (overlay: string, kind: string) =>
  rendered.get(overlay)!.filter((manifest) => manifest.kind === kind);

const environmentOf = (overlay: string, container: Container) =>
  environmentIn(rendered.get(overlay)!, container);

describe.each(overlays)('the overlay %s', (overlay) => {
  it('speaks of the same apps, variables, secrets, ports and probes as the code', () => {
    expect(disagreements(rendered.get(overlay)!, codeFacts(overlay))).toEqual([]);
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

  it('gives each probe the time for an answer', () => {
    for (const { pod } of apps(overlay))
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const)
        // The app's own answer to a slow database takes 0.8 s.
        expect(pod.containers[0]![probe]!.timeoutSeconds).toBeGreaterThan(1);
  });

  it('gives each app the time to drain', () => {
    for (const { pod } of apps(overlay)) {
      const [container] = pod.containers as [Container];
      const delay = Number(environmentOf(overlay, container).SHUTDOWN_DELAY_MS) / 1000;
      const sleep = container.lifecycle!.preStop!.sleep!.seconds;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + delay + DRAIN + SPARE);
    }
  });

  it('migrates each schema by the image that it starts', () => {
    const jobs = workloads(overlay).filter(({ name }) => name.startsWith('migrate'));
    expect(jobs.map(({ name }) => name.slice('migrate '.length)).sort()).toEqual([...appsWithASchema].sort());
    for (const job of jobs) {
      const app = apps(overlay).find((each) => appOf(each) === job.name.slice('migrate '.length))!;
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

describe('a name that is changed on one side only', () => {
  /** Production with other words in it, or with other facts of the code, both as text. */
  const changed = (side: 'manifests' | 'code', from: string, to: string): string[] => {
    const code = codeFacts('production');
    const manifests = rendered.get('production')!;
    const pairs = JSON.stringify({ ...code, variables: [...code.variables], needed: [...code.needed] });
    const before = side === 'code' ? pairs : JSON.stringify(manifests);
    expect(before).toContain(from);
    const text = before.replaceAll(from, to);
    if (side === 'manifests') return disagreements(JSON.parse(text) as Manifest[], code);
    const parsed = JSON.parse(text) as Record<string, never>;
    return disagreements(manifests, {
      ...code,
      ...parsed,
      variables: new Map(parsed.variables),
      needed: new Map(parsed.needed),
    });
  };

  it.each([
    ['a variable', 'READER_DATABASE_URL', 'QUERY_DATABASE_URL'],
    ['a shared variable', 'LINKS_URL', 'CLICKS_URL'],
    ['a secret', 'CARD_HASH_KEY', 'CARD_KEY'],
    ['a Secret', 'click-signing', 'link-signing'],
    ['a probe path', '/readyz', '/healthz'],
    ['a port', '9090', '9091'],
    ['an app', 'token-issuer', 'tokens'],
  ])('is found: %s', (_what, from, to) => {
    expect(changed('manifests', from, to)).not.toEqual([]);
    expect(changed('code', from, to)).not.toEqual([]);
  });
});

describe('the Secrets that docs/deploy.md lists', () => {
  it('are those that can be made, and those that operators make', () => {
    const [, table] = /<!-- secrets -->\n([^]*?)<!-- end -->/.exec(
      readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8'),
    )!;
    const listed = [...table!.matchAll(/^\| `([\w-]+)` +\| (.*?) +\|$/gm)].map(
      ([, name, keys]): [string, string[]] => [
        name!,
        [...keys!.matchAll(/`([^`]+)`/g)].map(([, key]) => key!),
      ],
    );
    const made = Object.entries(secretKeys('production'));
    for (const [name, keys] of made) expect(new Set(new Map(listed).get(name))).toEqual(new Set(keys));
    const others = listed.map(([name]) => name).filter((name) => !made.some(([each]) => each === name));
    expect(others).toEqual(['broker-tls', 'database-app', 'database-ca', 'perkway-tls']);
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
      .filter((each) => appsWithASchema.includes(appOf(each)))
      .map((each) => {
        const { DATABASE_POOL_SIZE, ANALYTICS_ROLES } = environmentOf('production', each.pod.containers[0]!);
        const { spec } = ofKind('production', 'HorizontalPodAutoscaler').find(
          ({ metadata }) => metadata.name === each.name,
        ) as { spec?: { maxReplicas: number } };
        return (spec!.maxReplicas + 1) * (Number(DATABASE_POOL_SIZE) + more(appOf(each), ANALYTICS_ROLES));
      });
    // Two of each migration and of provisioning.
    const ofJobs = (appsWithASchema.length + 1) * 2;
    const [cluster] = ofKind('production', 'Cluster');
    const { postgresql } = cluster!.spec as { postgresql: { parameters: { max_connections: string } } };
    const sum = [...ofApps, ofJobs].reduce((a, b) => a + b);
    expect(sum).toBeGreaterThan(200);
    expect(sum).toBeLessThan(Number(postgresql.parameters.max_connections));
  });

  it('acknowledges nothing that only one server has: no commit, whatever the schema, and no event', () => {
    const [cluster] = ofKind('production', 'Cluster');
    const { instances, postgresql } = cluster!.spec as {
      instances: number;
      postgresql: { synchronous: object; parameters: Record<string, string> };
    };
    expect(instances).toBeGreaterThanOrEqual(3);
    expect(postgresql.synchronous).toEqual({ method: 'any', number: 1, dataDurability: 'required' });
    // One that forgoes it for some of the schemas would be set for their roles, or for all of them here.
    expect(postgresql.parameters).not.toHaveProperty('synchronous_commit');
    for (const { pod } of apps('production').filter((each) => appOf(each) === 'analytics-query'))
      expect(environmentOf('production', pod.containers[0]!).TRACKING_REPLICAS).toBe('3');
    const [brokers] = ofKind('production', 'StatefulSet');
    expect((brokers!.spec as { replicas: number }).replicas).toBe(3);
  });

  it('counts in one Deployment and answers queries in another', () => {
    const roles = apps('production')
      .filter((each) => appOf(each) === 'analytics-query')
      .map((each) => [each.name, environmentOf('production', each.pod.containers[0]!).ANALYTICS_ROLES]);
    expect(roles).toEqual([
      ['analytics-ingest', 'ingest'],
      ['analytics-query', 'query'],
    ]);
  });
});
