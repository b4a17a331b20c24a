import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'rolldown';
import { appPlugin as allocationPage } from './apps/allocation-page/build-page.mjs';
import { appPlugin as consoleWeb } from './apps/console/build-web.mjs';

/** What an app's build makes besides its bundle. */
const PLUGINS = { 'allocation-page': [allocationPage()], console: [consoleWeb()] };

/** The operator's tools: `main` loads the command that it is given. */
const TOOLS = 'perkway';
const COMMANDS = {
  main: 'tools/perkway/src/main.ts',
  provision: 'tools/perkway/src/provision.ts',
  'dead-letters': 'tools/perkway/src/dead-letters.ts',
  replay: 'tools/perkway/src/replay.ts',
  distribute: 'tools/perkway/src/distribute.ts',
  secrets: 'tools/perkway/src/secrets.ts',
  'reporting-role': 'tools/perkway/src/reporting-role.ts',
  apply: 'tools/local-stack/src/catalogue/main.ts',
  demo: 'tools/demo/src/demo-command.ts',
};

const entriesOf = (app) =>
  app === TOOLS
    ? Object.entries(COMMANDS)
    : ['main', 'migrate']
        .map((entry) => [entry, `apps/${app}/src/${entry}.ts`])
        .filter(([, file]) => existsSync(file));

const PROGRAM = '\0program:';

/**
 * Puts a few lines before each program: in a container it is process 1, which has no default action for signals, and
 * loading the rest takes a second in which SIGTERM would be lost. `onStopSignal` of the platform takes over from them. As any
 * other process it is ended at once by default: a listener would be heard only when all is loaded.
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

/** Bundles the workspace code of one app; npm packages stay external (see docs/adr/0002-bundles.md). */
export const appConfig = (app) => ({
  input: Object.fromEntries(entriesOf(app).map(([entry, file]) => [entry, `${PROGRAM}${file}`])),
  platform: 'node',
  tsconfig: 'tsconfig.base.json',
  // @oxc-project holds the decorator helpers that the compiler injects; they are not a dependency of ours.
  external: (id) => !/^(\.|\/|\0|@perkway\/|@oxc-project\/)/.test(id),
  plugins: [obeySignalsWhileLoading, PLUGINS[app]],
  output: { dir: `dist/${app}`, format: 'esm', sourcemap: true, entryFileNames: '[name].js', cleanDir: true },
});

const all = () => [...readdirSync('apps').filter((app) => entriesOf(app).length > 0), TOOLS];

/** One app by `APP=perks`, or all of them and the tools. */
export default defineConfig(process.env.APP ? appConfig(process.env.APP) : all().map(appConfig));
