/** Stops what global-setup started and removes all its files. */
export default async function globalTeardown() {
  const servers = await globalThis.perkwayTestServers;
  globalThis.perkwayTestServers = undefined;
  await servers?.stop();
}
