/** Injects the app's validated environment; `createApp` provides it: `@Inject(ENV) env: PerksEnv`. */
export const ENV = Symbol('ENV');
/** Injects the app's name, which is its folder name. `createApp` provides it. */
export const APP_NAME = Symbol('APP_NAME');
/** Injects title and description of the host, for its home page. */
export const HOME = Symbol('HOME');
/** Injects the migrations of the app's schema; `createApp` provides them. */
export const MIGRATIONS = Symbol('MIGRATIONS');
