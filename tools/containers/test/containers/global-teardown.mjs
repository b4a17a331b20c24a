/** `set-up.ts` sets `stopEngine`. */
export default async function globalTeardown() {
  await globalThis.stopEngine?.();
}
