import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../src/paths.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
interface Groups {
  groups: { rules: { alert: string; expr: string }[] }[];
}
const alerts = parse(read('docker/observability/alerts.yaml')) as Groups;
const rules = alerts.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('k8s/monitoring/dashboard.json')) as {
  panels: { targets: { expr: string }[] }[];
};

/** Returns the metric names in a PromQL expression. */
const metricsIn = (expression: string): string[] => [
  ...new Set(
    expression.match(/\b(?:http|tracking|feed|webhooks?|erasures|pixel|nodejs|process|cnpg)_[a-z0-9_]+/g) ??
      [],
  ),
];

function sources(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/spec\.ts$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

describe('the alerts', () => {
  it('are the same in Kubernetes', () => {
    const rule = parse(read('k8s/monitoring/prometheus-rule.yaml')) as { spec: Groups };
    expect(rule.spec).toEqual(alerts);
  });

  it.each(rules.map(({ alert }) => alert))(
    '%s is tested, and docs/operations.md says what to do',
    (alert) => {
      expect(read('docker/observability/alerts.test.yaml')).toContain(`alertname: ${alert}`);
      expect(read('docs/operations.md')).toContain(`### ${alert}\n`);
    },
  );

  it('and the dashboard use metrics that the apps have', () => {
    const code = sources('libs') + sources('apps');
    const requested = [
      ...rules.map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ].flatMap(metricsIn);
    expect(requested.length).toBeGreaterThan(20);
    // Metrics of Node and of the database operator are not ours.
    for (const name of requested.filter((each) => !/^(nodejs|process|cnpg)_/.test(each)))
      expect(code).toContain(`'${name.replace(/_(count|bucket|sum)$/, '')}'`);
  });
});
