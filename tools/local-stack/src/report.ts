import { relative } from 'node:path';
import type { RunningStack } from './stack.js';

const ABOUT: Record<string, string> = {
  perks: 'perk collections, categories, codes',
  links: 'click_url redirects',
  boost: 'campaigns, pixels, customer journey',
  gift: 'gift-card pools and reward links',
  rewards: 'the page a recipient opens',
  token: 'accounts, keys, analytics tokens',
  query: 'Cube-compatible analytics',
  events: 'the event feed, webhooks',
  console: 'the admin app: sign in there with a key',
};

/** Formats rows with aligned columns. */
export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('   ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('   ');
  return [line(rows[0]!), rule, ...rows.slice(1).map(line)].map((text) => `  ${text}`).join('\n');
}

const count = (ids: string[], what: string): string => `${ids.length} ${what}${ids.length === 1 ? '' : 's'}`;

/** Describes the running stack for the user: hosts, accounts and keys. */
export function describeStack(stack: RunningStack, files: { stackFile: string; logDir: string }): string {
  const hosts = Object.entries(stack.hosts);
  const accounts = stack.accounts.map(({ id, userKey, collections, campaigns, pools }) => [
    id,
    'USER',
    userKey,
    [count(collections, 'collection'), count(campaigns, 'campaign'), count(pools, 'pool')].join(', '),
  ]);
  const shown = (path: string) => (relative('', path).startsWith('..') ? path : relative('', path));
  return [
    '',
    table([['host', 'address', 'what'], ...hosts.map(([host, url]) => [host, url, ABOUT[host] ?? ''])]),
    '',
    table([
      ['account', 'role', 'API key', 'owns'],
      ['platform', 'ADMIN', stack.adminKey, 'the management API (/admin)'],
      ...accounts,
    ]),
    '',
    `  OpenAPI of each host at /docs (rewards: /docs-json). Logs are in ${shown(files.logDir)}; ${shown(files.stackFile)} has all of the above.`,
    '  npm run demo runs one customer journey. Ctrl-C stops everything.',
    '',
  ].join('\n');
}
