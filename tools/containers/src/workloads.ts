import type { Manifest } from './kubectl.js';

export interface Container {
  name: string;
  image: string;
  args?: string[];
  ports?: { name: string; containerPort: number }[];
  env?: { name: string; value?: string; valueFrom?: unknown }[];
  envFrom?: { configMapRef: { name: string } }[];
  volumeMounts?: { name: string; mountPath: string }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext?: Record<string, unknown>;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  [probe: `${string}Probe`]:
    | {
        httpGet?: { path: string; port: string };
        timeoutSeconds: number;
        periodSeconds: number;
        failureThreshold: number;
      }
    | undefined;
}

interface SecretSource {
  name?: string;
  secretName?: string;
  items?: { key: string; path: string }[];
}
export interface PodSpec {
  containers: Container[];
  securityContext: Record<string, unknown>;
  terminationGracePeriodSeconds?: number;
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  volumes?: {
    name: string;
    secret?: SecretSource;
    projected?: { sources: { secret?: SecretSource; configMap?: { name: string } }[] };
  }[];
}

export interface Workload {
  kind: string;
  /** The deployed name; for a Job, without its hash and with a space, such as `migrate perks`. */
  name: string;
  labels: Record<string, string>;
  pod: PodSpec;
}

interface WithTemplate {
  template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
}

/** The hash that k8s/job-names appends to the names of Jobs. */
const JOB_HASH = /-[a-z0-9]{10}$/;

/** Returns all our workloads with pods. */
export const workloadsOf = (manifests: Manifest[]): Workload[] =>
  manifests
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    .map((manifest) => {
      const { template } = manifest.spec as WithTemplate;
      const { name } = manifest.metadata;
      return {
        kind: manifest.kind,
        name: manifest.kind === 'Job' ? name.replace(JOB_HASH, '').replace('-', ' ') : name,
        labels: template.metadata.labels,
        pod: template.spec,
      };
    });
