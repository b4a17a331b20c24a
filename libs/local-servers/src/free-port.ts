import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** True if a server could listen on 127.0.0.1 at this port now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    // EACCES: a port below 1024 that only root may take.
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * A port that is free on 127.0.0.1 now. It lies below the range from which the kernel gives ports to outgoing
 * connections: a client that reconnects while its server restarts could otherwise be given the server's own port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await isPortFree(port)) return port;
  }
}
