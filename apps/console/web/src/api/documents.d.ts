/** Placeholder that allows any type, for when the target `types` of this app has not been run. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type operations = any;
