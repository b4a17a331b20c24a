import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns true if a server could listen on 127.0.0.1 at this port now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    // EACCES: only root may listen below port 1024.
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * Below the kernel's range for outgoing connections: otherwise a client that reconnects while its server restarts could
 * take the server's port.
 */
const [FIRST, END] = [15_000, 32_000];
/**
 * Each Jest worker, with the processes that it starts, uses its own part of the range, because workers look for ports
 * at the same time.
 */
const PARTS = 4;
const SIZE = (END - FIRST) / PARTS;
const START = FIRST + SIZE * (Number(process.env.JEST_WORKER_ID ?? 0) % PARTS);

/** Ports that this process has handed out. Their servers may not listen yet. */
const handedOut = new Set<number>();

/** Returns a port that is free on 127.0.0.1 and that this process has not handed out before. */
export const freePort = (): Promise<number> => freePorts(1);

/** Returns the first of `count` consecutive free ports. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = START + randomInt(SIZE - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if (ports.some((port) => handedOut.has(port))) continue;
    // Reserve them before the check, so that no concurrent call gets them.
    for (const port of ports) handedOut.add(port);
    if ((await Promise.all(ports.map(isPortFree))).every(Boolean)) return first;
    for (const port of ports) handedOut.delete(port);
  }
}
