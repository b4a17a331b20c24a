import type { Manifest } from './kubectl.js';
import { workloadsOf } from './workloads.js';

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: {
    key: string;
    operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    values?: string[];
  }[];
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port: string | number; protocol?: string }[];
}
interface Policy {
  podSelector: Selector;
  policyTypes: ('Ingress' | 'Egress')[];
  ingress?: Rule[];
  egress?: Rule[];
}

/** A source or target of connections. */
interface Party {
  name: string;
  labels: Record<string, string>;
  /** Labels of its namespace; absent for parties in our own. */
  namespace?: Record<string, string>;
  ports: { name?: string; port: number; protocol?: string }[];
}

const inNamespace = (name: string, label: string, ports: Party['ports'] = [], labels = {}): Party => ({
  name,
  labels,
  namespace: Object.fromEntries([label.split('=') as [string, string]]),
  ports,
});

/** Parties outside the manifests. */
const OUTSIDERS: Party[] = [
  inNamespace('ingress controller', 'perkway.io/ingress=true'),
  inNamespace('Prometheus', 'perkway.io/monitoring=true'),
  inNamespace('database operator', 'kubernetes.io/metadata.name=cnpg-system'),
  inNamespace('names', 'kubernetes.io/metadata.name=kube-system', [{ port: 53, protocol: 'UDP' }], {
    'k8s-app': 'kube-dns',
  }),
  inNamespace('any other pod', 'kubernetes.io/metadata.name=other', [{ port: 8080 }]),
  { name: 'outside', labels: {}, namespace: {}, ports: [{ port: 80 }, { port: 443 }] },
];
/** An operator's Job that applies a catalogue. */
const MANAGEMENT: Party = {
  name: 'management',
  labels: { 'app.kubernetes.io/component': 'management' },
  ports: [],
};

const POOLER_PORTS = [{ port: 5432 }, { port: 9127, name: 'metrics' }];
const DATABASE_PORTS = [{ port: 5432 }, { port: 8000 }, { port: 9187, name: 'metrics' }];

const matches = (
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Record<string, string>,
): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key in labels;
    if (operator === 'DoesNotExist') return !(key in labels);
    return values.includes(labels[key] ?? '') === (operator === 'In');
  });

function isPeer({ podSelector, namespaceSelector }: Peer, party: Party): boolean {
  const inside = namespaceSelector
    ? party.namespace !== undefined && matches(namespaceSelector, party.namespace)
    : party.namespace === undefined;
  return inside && matches(podSelector ?? {}, party.labels);
}

type Port = Party['ports'][number];
const allows = (rule: Rule, other: Party, port: Port): boolean => {
  const peers = rule.from ?? rule.to;
  const isNamed = (named: { port: string | number; protocol?: string }) =>
    (named.port === port.port || named.port === port.name) &&
    (named.protocol ?? 'TCP') === (port.protocol ?? 'TCP');
  return (!peers || peers.some((peer) => isPeer(peer, other))) && (!rule.ports || rule.ports.some(isNamed));
};

/**
 * Returns whether the policies of `party` allow it to send to, or receive from, `other`. A party that no policy selects
 * may do both.
 */
function allowsAny(
  policies: Policy[],
  direction: 'Ingress' | 'Egress',
  party: Party,
  other: Party,
  port: Port,
): boolean {
  if (party.namespace) return true;
  const own = policies.filter(
    ({ podSelector, policyTypes }) => policyTypes.includes(direction) && matches(podSelector, party.labels),
  );
  if (own.length === 0) return true;
  return own.some((policy) =>
    (direction === 'Ingress' ? policy.ingress : policy.egress)?.some((rule) => allows(rule, other, port)),
  );
}

function partiesOf(manifests: Manifest[]): Party[] {
  const pods = workloadsOf(manifests).map(({ name, labels, pod }) => ({
    name,
    labels,
    ports: pod.containers.flatMap(({ ports = [] }) =>
      ports.map(({ name: of, containerPort }) => ({ name: of, port: containerPort })),
    ),
  }));
  const clusters = manifests
    .filter(({ kind }) => kind === 'Cluster')
    .map(({ metadata }) => ({
      name: metadata.name,
      labels: { 'cnpg.io/cluster': metadata.name },
      ports: DATABASE_PORTS,
    }));
  const poolers = manifests
    .filter(({ kind }) => kind === 'Pooler')
    .map(({ metadata }) => ({
      name: metadata.name,
      labels: { 'cnpg.io/poolerName': metadata.name },
      ports: POOLER_PORTS,
    }));
  return [...pods, ...clusters, ...poolers, MANAGEMENT, ...OUTSIDERS];
}

/**
 * Returns the allowed targets and ports by source. Connections between two parties outside our namespace are left out.
 */
export function networkMatrix(manifests: Manifest[]): Map<string, string[]> {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as Policy);
  const parties = partiesOf(manifests);
  return new Map(
    parties.map((from) => [
      from.name,
      parties
        .filter((to) => !from.namespace || !to.namespace)
        .map((to) => {
          const open = to.ports.filter(
            (port) =>
              allowsAny(policies, 'Egress', from, to, port) && allowsAny(policies, 'Ingress', to, from, port),
          );
          return open.length > 0 ? `${to.name} ${open.map(({ port }) => port).join('+')}` : '';
        })
        .filter(Boolean),
    ]),
  );
}

/** Formats the matrix as a Markdown list. Sources with the same targets share an item. */
export function matrixList(manifests: Manifest[]): string {
  const lines = new Map<string, string[]>();
  for (const [from, to] of networkMatrix(manifests)) {
    const what = to.join(', ') || 'nothing';
    lines.set(what, [...(lines.get(what) ?? []), from]);
  }
  return [...lines].map(([what, who]) => `- **${who.join(', ')}**: ${what}`).join('\n');
}
