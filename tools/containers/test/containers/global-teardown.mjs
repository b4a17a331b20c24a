/** `set-up.ts` has left it there. */
export default async function globalTeardown() {
  await globalThis.stopEngine?.();
}
