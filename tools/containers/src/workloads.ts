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
  /** As it is deployed; of a Job without the release. */
  name: string;
  labels: Record<string, string>;
  pod: PodSpec;
}

interface WithTemplate {
  template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
}

/** Everything that runs pods of ours. */
export const workloadsOf = (manifests: Manifest[]): Workload[] =>
  manifests
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    .map((manifest) => {
      const { template } = manifest.spec as WithTemplate;
      const { name } = manifest.metadata;
      const parts = name.split('.');
      return {
        kind: manifest.kind,
        name: manifest.kind === 'Job' ? parts.slice(0, parts[0] === 'migrate' ? 2 : 1).join(' ') : name,
        labels: template.metadata.labels,
        pod: template.spec,
      };
    });
