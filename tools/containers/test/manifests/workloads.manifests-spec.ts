import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { render, type Manifest } from '../../src/kubectl.js';
import { ROOT } from '../../src/paths.js';
import { workloadsOf, type Container, type Workload } from '../../src/workloads.js';
import { appOf, disagreements, environmentOf as environmentIn } from '../../src/agreement.js';
import { appsWithASchema } from '../app-variables.js';
import { codeFacts, secretKeys } from '../code-facts.js';
import { appOfHost } from '../public-paths.js';
import { renderPooler, renderText } from './overlays.js';

/** Seconds: the longest drain of an app, and the spare time after it. */
const DRAIN = 10;
const SPARE = 5;

/** Apps with an outbox. */
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

/** Returns values with a placeholder that a component should have replaced. */
const placeholders = (value: unknown, path = ''): string[] => {
  if (typeof value === 'string') return /\bDOMAIN\b/.test(value) ? [`${path}: ${value}`] : [];
  if (!value || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, each]) => placeholders(each, `${path}/${key}`));
};

const environmentOf = (overlay: string, container: Container) =>
  environmentIn(rendered.get(overlay)!, container);

describe.each(overlays)('the overlay %s', (overlay) => {
  it('has the same apps, variables, secrets, ports and probes as the code', () => {
    expect(disagreements(rendered.get(overlay)!, codeFacts(overlay))).toEqual([]);
  });

  it('runs nothing as root, with capabilities, with a writable root, or from an untagged image', () => {
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

  it('leaves no placeholder in any value', () => {
    expect(placeholders(rendered.get(overlay)!)).toEqual([]);
  });

  it('gives every app its own public URL under the domain', () => {
    const { data } = ofKind(overlay, 'ConfigMap').find(({ metadata }) =>
      metadata.name.startsWith('perkway-'),
    ) as unknown as { data: Record<string, string> };
    const urls = Object.entries(data).filter(([name]) => /^[A-Z]+_URL$/.test(name) && name !== 'NATS_URL');
    const scheme = overlay === 'local' ? 'http' : 'https';
    expect(urls.map(([, url]) => url).sort()).toEqual(
      [...appOfHost.keys()].map((host) => `${scheme}://${host}.${data.DOMAIN}`).sort(),
    );
  });

  it('lets the cluster choose the user of the apps', () => {
    for (const { pod } of apps(overlay)) expect(JSON.stringify(pod)).not.toContain('runAsUser');
  });

  it('limits the resources of each container', () => {
    for (const [{ name }, container] of containers(overlay)) {
      expect({ name, ...container.resources }).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
      const heap = /max-old-space-size=(\d+)/.exec(environmentOf(overlay, container).NODE_OPTIONS ?? '')?.[1];
      // Memory that an app needs besides its heap.
      if (heap)
        expect(Number(heap) + 90).toBeLessThanOrEqual(Number.parseInt(container.resources.limits.memory!));
    }
  });

  it('gives each probe enough time for a response', () => {
    for (const { pod } of apps(overlay))
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const)
        // With a slow database, the app itself responds after 0.8 s.
        expect(pod.containers[0]![probe]!.timeoutSeconds).toBeGreaterThan(1);
  });

  it('gives each app enough time to drain', () => {
    for (const { pod } of apps(overlay)) {
      const [container] = pod.containers as [Container];
      const delay = Number(environmentOf(overlay, container).SHUTDOWN_DELAY_MS) / 1000;
      const sleep = container.lifecycle!.preStop!.sleep!.seconds;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + delay + DRAIN + SPARE);
    }
  });

  it('migrates each schema with the image of its app', () => {
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

  it('provisions the role and the schema of every app with a database, from mounted Secrets', () => {
    const { pod } = workloads(overlay).find(({ name }) => name === 'provision')!;
    const mounted = pod
      .volumes!.find(({ name }) => name === 'secrets')!
      .projected!.sources.flatMap(({ secret }) => secret!.items!.map(({ path }) => path));
    const files = appsWithASchema.map((app) => `${app.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`);
    expect(mounted).toEqual(expect.arrayContaining(files));
    expect(pod.containers[0]!.env!.map(({ name, value }) => [name, value]).sort()).toEqual(
      mounted.map((path) => [`${path}_FILE`, `/run/secrets/perkway/${path}`]).sort(),
    );
  });

  it('contains no Secret', () => {
    expect(ofKind(overlay, 'Secret')).toEqual([]);
  });

  it('has a Service for each app, with existing ports', () => {
    const named = ofKind(overlay, 'Service').map(({ metadata }) => metadata.name);
    expect(named).toEqual(expect.arrayContaining(apps(overlay).map(({ name }) => name)));
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

describe('a name changed on one side only', () => {
  /** Returns the differences after replacing a text in production's manifests or in the facts of the code. */
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

describe('the Jobs', () => {
  const jobNames = (manifests: Manifest[]) =>
    manifests.filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name);
  const production = (image: string) => `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../k8s/overlays/production]
images: [{ name: registry.example.com/perkway/perks, ${image} }]
`;

  it.each(overlays)('of %s have names without dots and a time to live', (overlay) => {
    const jobs = ofKind(overlay, 'Job');
    expect(jobs).toHaveLength(appsWithASchema.length + 1);
    for (const { metadata, spec } of jobs) {
      // At most 52 characters, so that names of pods and labels fit.
      expect(metadata.name).toMatch(/^(migrate-[a-z-]+|provision)-[a-z0-9]{10}$/);
      expect(metadata.name.length).toBeLessThanOrEqual(52);
      expect(spec).toMatchObject({ ttlSecondsAfterFinished: expect.any(Number) });
    }
    expect(JSON.stringify(rendered.get(overlay))).not.toContain('local-config');
  });

  it('have new names if and only if their spec differs', async () => {
    const before = jobNames(rendered.get('production')!);
    expect(jobNames(await renderText(production('newTag: 0.1.0')))).toEqual(before);
    for (const change of ['newTag: 0.1.1', 'newName: other.example.com/perks']) {
      const after = jobNames(await renderText(production(change)));
      expect(after.filter((name) => !before.includes(name))).toEqual([
        expect.stringMatching(/^migrate-perks-/),
      ]);
    }
  });
});

describe('the pooler', () => {
  it('serves no migration: the migration Jobs have the URL of the database and new names', async () => {
    const manifests = await renderPooler();
    const jobs = workloadsOf(manifests).filter(({ name }) => name.startsWith('migrate'));
    const secrets = secretKeys('production', true);
    for (const { name, pod } of jobs) {
      expect(pod.containers[0]!.env).toEqual([
        { name: 'MIGRATION_DATABASE_URL_FILE', value: '/run/secrets/perkway/MIGRATION_DATABASE_URL' },
      ]);
      const [{ secret }] = pod.volumes!.find((volume) => volume.name === 'secrets')!.projected!.sources as [
        { secret: { name: string; items: { key: string; path: string }[] } },
      ];
      expect(secret).toEqual({
        name: name.slice('migrate '.length),
        items: [{ key: 'MIGRATION_DATABASE_URL', path: 'MIGRATION_DATABASE_URL' }],
      });
      expect(secrets[secret.name]).toContain('MIGRATION_DATABASE_URL');
    }
    expect(jobs).toHaveLength(appsWithASchema.length);
    const [cluster] = manifests.filter(({ kind }) => kind === 'Cluster');
    expect(cluster!.spec).toMatchObject({ certificates: { serverAltDNSNames: ['pooler'] } });
    // A Job is immutable, so a changed one needs a new name.
    const named = (of: Manifest[]) =>
      of.filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name);
    expect(named(manifests).filter((name) => named(rendered.get('production')!).includes(name))).toEqual([
      expect.stringMatching(/^provision-/),
    ]);
  });
});

describe('the Secrets that docs/deployment-reference.md lists', () => {
  it('are those that `perkway secrets` or operators create', () => {
    const [, table] = /<!-- secrets -->\n([^]*?)<!-- end -->/.exec(
      readFileSync(join(ROOT, 'docs/deployment-reference.md'), 'utf8'),
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
  it('runs one release everywhere', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const [, { image }] of containers('production').filter(([, { image }]) =>
      image.includes('perkway/'),
    ))
      expect(image).toMatch(new RegExp(`:${version}$`));
  });

  it('runs at least two replicas of each app, scales them, and evicts one at a time', () => {
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

  it('needs fewer connections than the database accepts, with every app at its maximum during a rollout', () => {
    /** Connections of a replica besides DATABASE_POOL_SIZE: its outbox, and the reader with its default. */
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
    // Two for each migration and for provisioning.
    const ofJobs = (appsWithASchema.length + 1) * 2;
    const [cluster] = ofKind('production', 'Cluster');
    const { postgresql } = cluster!.spec as { postgresql: { parameters: { max_connections: string } } };
    const sum = [...ofApps, ofJobs].reduce((a, b) => a + b);
    expect(sum).toBeGreaterThan(200);
    expect(sum).toBeLessThan(Number(postgresql.parameters.max_connections));
  });

  it('acknowledges no commit and no event that only one server has', () => {
    const [cluster] = ofKind('production', 'Cluster');
    const { instances, postgresql } = cluster!.spec as {
      instances: number;
      postgresql: { synchronous: object; parameters: Record<string, string> };
    };
    expect(instances).toBeGreaterThanOrEqual(3);
    expect(postgresql.synchronous).toEqual({ method: 'any', number: 1, dataDurability: 'required' });
    // An exception for some schemas would be set here or on their roles.
    expect(postgresql.parameters).not.toHaveProperty('synchronous_commit');
    for (const { pod } of apps('production').filter((each) => appOf(each) === 'analytics-query'))
      expect(environmentOf('production', pod.containers[0]!).TRACKING_REPLICAS).toBe('3');
    const [brokers] = ofKind('production', 'StatefulSet');
    expect((brokers!.spec as { replicas: number }).replicas).toBe(3);
  });

  it('runs the ingest and queries in separate Deployments', () => {
    const roles = apps('production')
      .filter((each) => appOf(each) === 'analytics-query')
      .map((each) => [each.name, environmentOf('production', each.pod.containers[0]!).ANALYTICS_ROLES]);
    expect(roles).toEqual([
      ['analytics-ingest', 'ingest'],
      ['analytics-query', 'query'],
    ]);
  });
});
