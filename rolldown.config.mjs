import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'rolldown';
import { appPlugin as allocationPage } from './apps/allocation-page/build-page.mjs';

/** What an app's build makes besides its bundle. */
const PLUGINS = { 'allocation-page': [allocationPage()] };

/** Bundles the workspace code of one app; npm packages stay external (see docs/adr/0002-bundles.md). */
export const appConfig = (app) => ({
  input: Object.fromEntries(
    ['main', 'migrate']
      .map((entry) => [entry, `apps/${app}/src/${entry}.ts`])
      .filter(([, file]) => existsSync(file)),
  ),
  platform: 'node',
  tsconfig: 'tsconfig.base.json',
  // @oxc-project holds the decorator helpers that the compiler injects; they are not a dependency of ours.
  external: (id) => !/^(\.|\/|\0|@perkway\/|@oxc-project\/)/.test(id),
  plugins: PLUGINS[app],
  output: { dir: `dist/${app}`, format: 'esm', sourcemap: true, entryFileNames: '[name].js', cleanDir: true },
});

const allApps = () => readdirSync('apps').filter((app) => existsSync(`apps/${app}/src/main.ts`));

/** One app by `APP=perks`, or all. */
export default defineConfig(process.env.APP ? appConfig(process.env.APP) : allApps().map(appConfig));
