/** Stops the servers that global-setup started and removes their files. */
export default async function globalTeardown() {
  await globalThis.perkwayTestServers?.stop();
}
