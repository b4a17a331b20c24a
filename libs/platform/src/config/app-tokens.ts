/** Injects the app's validated environment; `createApp` provides it: `@Inject(ENV) env: PerksEnv`. */
export const ENV = Symbol('ENV');
/** Injects the app's name, which is that of its folder; `createApp` provides it. */
export const APP_NAME = Symbol('APP_NAME');
/** Title and description of the host, for the page at its address. */
export const HOME = Symbol('HOME');
/** Injects the migrations of the app's schema; `createApp` provides them. */
export const MIGRATIONS = Symbol('MIGRATIONS');
