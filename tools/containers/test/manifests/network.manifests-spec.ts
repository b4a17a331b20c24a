import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { render } from '../../src/kubectl.js';
import { matrixTable, networkMatrix } from '../../src/network-matrix.js';
import { ROOT } from '../../src/paths.js';
import { appOfHost, publicPaths } from '../public-paths.js';
import { renderRoutes } from './overlays.js';

describe('who may talk to whom', () => {
  it('is the table in docs/deploy.md', async () => {
    const docs = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8')
      .replace(/ +\|/g, ' |')
      .replace(/\| +/g, '| ');
    for (const line of matrixTable(await render('k8s/overlays/production')).split('\n'))
      expect(docs).toContain(line);
  });

  it('is the same in all overlays, but for what runs in one only', async () => {
    const [production, local] = [
      networkMatrix(await render('k8s/overlays/production')),
      networkMatrix(await render('k8s/overlays/local')),
    ];
    for (const app of appOfHost.values()) expect(local.get(app)).toEqual(production.get(app));
  });

  it('lets no app but the console reach another, and nobody else the broker or the database', async () => {
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

  it('of the Ingress are the list of docker/proxy/public-paths.lst', async () => {
    const ingress = (await renderRoutes('ingress')).find(({ kind }) => kind === 'Ingress')!;
    const { rules, tls } = ingress.spec as unknown as IngressSpec;
    expect(rules.map(({ host }) => host).sort()).toEqual(hosts);
    expect([...tls[0]!.hosts].sort()).toEqual(hosts);
    for (const { host, http } of rules) {
      const app = appOfHost.get(host.split('.')[0]!)!;
      expect(http.paths.map(({ path }) => path).sort()).toEqual([...publicPaths.get(app)!].sort());
      for (const { backend, pathType } of http.paths)
        expect([backend.service.name, pathType]).toEqual([app, 'Prefix']);
    }
    expect(ingress.metadata.annotations).toBeUndefined();
  });

  it('of the gateway are the same', async () => {
    const routes = (await renderRoutes('gateway')).filter(({ kind }) => kind === 'HTTPRoute');
    expect(routes.flatMap(({ spec }) => (spec as unknown as RouteSpec).hostnames).sort()).toEqual(hosts);
    for (const { spec } of routes) {
      const { hostnames, rules } = spec as unknown as RouteSpec;
      const app = appOfHost.get(hostnames[0]!.split('.')[0]!)!;
      expect(rules[0]!.matches.map(({ path }) => path.value).sort()).toEqual(
        [...publicPaths.get(app)!].sort(),
      );
      expect(rules[0]!.backendRefs.map(({ name }) => name)).toEqual([app]);
    }
  });
});
