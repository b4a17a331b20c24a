import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { render, type Manifest } from '../../src/kubectl.js';
import { ROOT } from '../../src/paths.js';

/** Renders a temporary kustomization, which refers to the manifests as `../../k8s`. */
export async function renderText(text: string): Promise<Manifest[]> {
  const parent = join(ROOT, '.local');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'overlay-'));
  try {
    writeFileSync(join(folder, 'kustomization.yaml'), text);
    return await render(relative(ROOT, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Renders production with the pooler. */
export const renderPooler = (): Promise<Manifest[]> =>
  renderText(`
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: perkway
resources: [../../k8s/overlays/production]
components: [../../k8s/pooler]
`);

/** Renders the base with one kind of routes. */
export const renderRoutes = (kind: 'ingress' | 'gateway'): Promise<Manifest[]> =>
  renderText(`
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../k8s/base]
components: [../../k8s/routes/${kind}, ../../k8s/routes/domain]
configMapGenerator:
  - { name: perkway, behavior: merge, literals: [DOMAIN=example.org] }
`);
