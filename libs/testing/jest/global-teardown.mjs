/** Stops the servers that global-setup started and removes their files. */
export default async function globalTeardown() {
  const servers = await globalThis.perkwayTestServers;
  globalThis.perkwayTestServers = undefined;
  await servers?.stop();
}
