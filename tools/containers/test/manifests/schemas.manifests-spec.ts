import { render, type Manifest } from '../../src/kubectl.js';
import { problemsOf } from '../../src/schemas.js';
import { renderPooler, renderRoutes } from './overlays.js';

const deployment = (change: (container: Record<string, unknown>) => void): Manifest => {
  const container: Record<string, unknown> = { name: 'app', image: 'perkway/perks:1' };
  change(container);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'perks' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } },
    },
  };
};

describe('the schemas', () => {
  it.each(['production', 'local'])('accept the overlay %s', async (overlay) => {
    expect(await problemsOf(await render(`k8s/overlays/${overlay}`))).toEqual([]);
  });

  it('accept the changes for the pooler', async () => {
    const manifests = await renderPooler();
    expect(manifests.map(({ kind }) => kind)).toContain('Pooler');
    // No library has the schema of the Pooler.
    expect(await problemsOf(manifests.filter(({ kind }) => /Cluster|Job|NetworkPolicy/.test(kind)))).toEqual(
      [],
    );
  });

  it('accept the routes of a Gateway', async () => {
    const routes = (await renderRoutes('gateway')).filter(({ kind }) => kind === 'HTTPRoute');
    expect(routes.length).toBeGreaterThan(6);
    expect(await problemsOf(routes)).toEqual([]);
  });

  it('reject an unknown field, a wrong type and a wrong quantity', async () => {
    const found = await problemsOf([
      deployment((container) => (container.imagePullPolice = 'Always')),
      deployment(
        (container) => (container.livenessProbe = { httpGet: { path: '/', port: 1 }, timeoutSeconds: '2' }),
      ),
      deployment((container) => (container.resources = { limits: { memory: '12 MB' } })),
      {
        apiVersion: 'postgresql.cnpg.io/v1',
        kind: 'Cluster',
        metadata: { name: 'database' },
        spec: {
          instances: 1,
          storage: { size: '1Gi' },
          postgresql: { synchronos: { number: 1 }, pg_hba: ['x'] },
        },
      },
    ]);
    expect(found.join('\n')).toMatch(/imagePullPolice/);
    expect(found.join('\n')).toMatch(/timeoutSeconds|'string' is not assignable to type 'number'/);
    expect(found.join('\n')).toMatch(/memory/);
    expect(found.join('\n')).toMatch(/spec\.postgresql\.synchronos\.number is not known/);
    expect(found.join('\n')).not.toMatch(/pgHba/);
  });
});
