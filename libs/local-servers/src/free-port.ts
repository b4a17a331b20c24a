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
 * Below the range from which the kernel gives ports to outgoing connections: a client that reconnects while its server
 * restarts could otherwise be given the server's own port.
 */
const [FIRST, END] = [15_000, 32_000];
/** Workers of Jest look for ports at the same moment, so each does in a part of its own, and what it starts does too. */
const PARTS = 4;
const SIZE = (END - FIRST) / PARTS;
const START = FIRST + SIZE * (Number(process.env.JEST_WORKER_ID ?? 0) % PARTS);

/** Nobody may listen there yet. */
const given = new Set<number>();

/** A port that is free on 127.0.0.1 now, and that this process has given to nobody before: whoever got it may not listen yet. */
export const freePort = (): Promise<number> => freePorts(1);

/** The first of so many ports in a row. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = START + randomInt(SIZE - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if (ports.some((port) => given.has(port))) continue;
    // Before they are tried, so that nobody else is given them meanwhile.
    for (const port of ports) given.add(port);
    if ((await Promise.all(ports.map(isPortFree))).every(Boolean)) return first;
    for (const port of ports) given.delete(port);
  }
}
