import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { render } from '../../src/kubectl.js';
import { matrixList, networkMatrix } from '../../src/network-matrix.js';
import { ROOT } from '../../src/paths.js';
import { appOfHost, publicPaths } from '../public-paths.js';
import { renderPooler, renderRoutes } from './overlays.js';

describe('the network matrix', () => {
  it('is the list in docs/deployment-reference.md', async () => {
    const docs = readFileSync(join(ROOT, 'docs/deployment-reference.md'), 'utf8');
    expect(docs).toContain(`\n\n${matrixList(await render('k8s/overlays/production'))}\n\n`);
  });

  it('lets every app connect to the same targets in both overlays', async () => {
    const [production, local] = [
      networkMatrix(await render('k8s/overlays/production')),
      networkMatrix(await render('k8s/overlays/local')),
    ];
    for (const app of appOfHost.values()) expect(local.get(app)).toEqual(production.get(app));
  });

  it('lets every app with a database, and nothing else, reach the pooler', async () => {
    const matrix = networkMatrix(await renderPooler());
    const reaches = (party: string) => matrix.get(party)!.includes('pooler 5432');
    const apps = [...appOfHost.values(), 'analytics-ingest'].filter((app) => app !== 'allocation-page');
    expect([...matrix.keys()].filter(reaches).sort()).toEqual(apps.sort());
    expect(matrix.get('pooler')).toEqual(expect.arrayContaining(['database 5432']));
    expect(matrix.get('migrate perks')).toEqual(['database 5432', 'names 53']);
  });

  it('lets only the console reach other apps, and only our own pods reach the broker and the database', async () => {
    const matrix = networkMatrix(await render('k8s/overlays/production'));
    const apps = [...appOfHost.values(), 'analytics-ingest'];
    for (const app of apps.filter((each) => each !== 'console'))
      expect(matrix.get(app)!.filter((to) => apps.includes(to.split(' ')[0]!))).toEqual([]);
    for (const stranger of ['any other pod', 'outside', 'ingress controller', 'management'])
      expect(matrix.get(stranger)!.filter((to) => /broker|database/.test(to))).toEqual([]);
    expect(matrix.get('allocation-page')!.filter((to) => to.startsWith('database'))).toEqual([]);
  });
});

interface IngressSpec {
  rules: {
    host: string;
    http: { paths: { path: string; pathType: string; backend: { service: { name: string } } }[] };
  }[];
  tls: { hosts: string[] }[];
}
interface RouteSpec {
  hostnames: string[];
  rules: { matches: { path: { type: string; value: string } }[]; backendRefs: { name: string }[] }[];
}

describe('the routes', () => {
  const hosts = [...appOfHost.keys()].map((host) => `${host}.example.org`).sort();

  /** A host with only public paths needs no further routes. */
  const routesOf = (app: string): string[] => {
    const prefixes = publicPaths.get(app)!;
    const apiPages = prefixes.includes('/') ? [] : ['/', '/errors', '/docs-json'];
    return [...prefixes.map((path) => `Prefix ${path}`), ...apiPages.map((path) => `Exact ${path}`)].sort();
  };

  it('of the Ingress match docker/proxy/public-paths.lst', async () => {
    const ingress = (await renderRoutes('ingress')).find(({ kind }) => kind === 'Ingress')!;
    const { rules, tls } = ingress.spec as unknown as IngressSpec;
    expect(rules.map(({ host }) => host).sort()).toEqual(hosts);
    expect([...tls[0]!.hosts].sort()).toEqual(hosts);
    for (const { host, http } of rules) {
      const app = appOfHost.get(host.split('.')[0]!)!;
      expect(http.paths.map(({ path, pathType }) => `${pathType} ${path}`).sort()).toEqual(routesOf(app));
      for (const { backend } of http.paths) expect(backend.service.name).toBe(app);
    }
    expect(ingress.metadata.annotations).toBeUndefined();
  });

  it('of the Gateway are the same', async () => {
    const routes = (await renderRoutes('gateway')).filter(({ kind }) => kind === 'HTTPRoute');
    expect(routes.flatMap(({ spec }) => (spec as unknown as RouteSpec).hostnames).sort()).toEqual(hosts);
    for (const { spec } of routes) {
      const { hostnames, rules } = spec as unknown as RouteSpec;
      const app = appOfHost.get(hostnames[0]!.split('.')[0]!)!;
      const matches = rules[0]!.matches.map(
        ({ path }) => `${path.type === 'PathPrefix' ? 'Prefix' : path.type} ${path.value}`,
      );
      expect(matches.sort()).toEqual(routesOf(app));
      expect(rules[0]!.backendRefs.map(({ name }) => name)).toEqual([app]);
    }
  });
});
