import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'rolldown';
import { appPlugin as allocationPage } from './apps/allocation-page/build-page.mjs';
import { appPlugin as consoleWeb } from './apps/console/build-web.mjs';
import { bundlePackages } from './bundle-packages.mjs';

/** Additional entry points of an app's build. */
const PLUGINS = { 'allocation-page': [allocationPage()], console: [consoleWeb()] };

/** Also in the image of token-issuer, because it needs that app's environment. */
const ADMIN_KEY = 'tools/perkway/src/admin-key.ts';
/** The operator's tools: `main` loads the given command. */
const TOOLS = 'perkway';
const COMMANDS = {
  main: 'tools/perkway/src/main.ts',
  provision: 'tools/perkway/src/provision.ts',
  'dead-letters': 'tools/perkway/src/dead-letters.ts',
  replay: 'tools/perkway/src/replay.ts',
  distribute: 'tools/perkway/src/distribute.ts',
  secrets: 'tools/perkway/src/secrets.ts',
  'reporting-role': 'tools/perkway/src/reporting-role.ts',
  'admin-key': ADMIN_KEY,
  apply: 'tools/local-stack/src/catalogue/main.ts',
  demo: 'tools/demo/src/demo-command.ts',
};

const entriesOf = (app) =>
  app === TOOLS
    ? Object.entries(COMMANDS)
    : [
        ...['main', 'migrate']
          .map((entry) => [entry, `apps/${app}/src/${entry}.ts`])
          .filter(([, file]) => existsSync(file)),
        ...(app === 'token-issuer' ? [['admin-key', ADMIN_KEY]] : []),
      ];

const PROGRAM = '\0program:';

/**
 * Adds signal handlers before each program. In a container it is process 1, which has no default signal actions, and
 * loading takes a second in which SIGTERM would be lost. `onStopSignal` of the platform replaces the handlers. Other
 * processes keep the default action, because a handler would only run when everything is loaded.
 */
const obeySignalsWhileLoading = {
  name: 'obey-signals-while-loading',
  resolveId: (id) => (id.startsWith(PROGRAM) ? id : null),
  load: (id) =>
    id.startsWith(PROGRAM)
      ? [
          "if (process.pid === 1) for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(143));",
          `await import(${JSON.stringify(`./${id.slice(PROGRAM.length)}`)});`,
        ].join('\n')
      : null,
};

/** Bundles the workspace code of one app. It finds npm packages in `dist/node_modules` (see docs/adr/0002-bundles.md). */
export const appConfig = (app) => ({
  input: Object.fromEntries(entriesOf(app).map(([entry, file]) => [entry, `${PROGRAM}${file}`])),
  platform: 'node',
  tsconfig: 'tsconfig.base.json',
  // @oxc-project has the decorator helpers that the compiler injects; it is not a dependency of ours.
  external: (id) => !/^(\.|\/|\0|@perkway\/|@oxc-project\/)/.test(id),
  checks: { bundlerTimings: false },
  plugins: [{ name: 'packages', buildStart: bundlePackages }, obeySignalsWhileLoading, PLUGINS[app]],
  output: { dir: `dist/${app}`, format: 'esm', sourcemap: true, entryFileNames: '[name].js', cleanDir: true },
});

const all = () => [...readdirSync('apps').filter((app) => entriesOf(app).length > 0), TOOLS];

/** One app with `APP=perks`, or all apps and the tools. */
export default defineConfig(process.env.APP ? appConfig(process.env.APP) : all().map(appConfig));
