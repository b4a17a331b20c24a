/** In place of the types that the target `types` of this app makes, where nobody has made them: everything goes. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type operations = any;
