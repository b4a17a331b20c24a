import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const PROBE_EVERY_MS = 400;
const PROBE_WITHIN_MS = 1_000;

interface Backend {
  port: number;
  isReady: boolean;
}

/**
 * A TCP load balancer in front of an app's replicas. Each connection goes to the next ready replica (to any replica if
 * none is ready), or to another one if the connection is refused. It never sends data twice.
 */
export class RoundRobin {
  private readonly backends: Backend[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly probing: NodeJS.Timeout;
  private next = 0;

  private constructor(private readonly server: Server) {
    server.on('connection', (client) => this.pass(client, this.inTurn()));
    this.probing = setInterval(
      () => this.backends.forEach((backend) => void this.probe(backend)),
      PROBE_EVERY_MS,
    );
  }

  static async listen(): Promise<RoundRobin> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new RoundRobin(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  add(port: number): void {
    this.backends.push({ port, isReady: true });
  }

  /** Sends no new connections there. Open ones continue. */
  remove(port: number): void {
    this.backends.splice(
      this.backends.findIndex((backend) => backend.port === port),
      1,
    );
  }

  async close(): Promise<void> {
    clearInterval(this.probing);
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.server, 'close');
  }

  private inTurn(): Backend[] {
    const ready = this.backends.filter(({ isReady }) => isReady);
    const all = ready.length > 0 ? ready : this.backends;
    this.next = (this.next + 1) % Math.max(1, all.length);
    return [...all.slice(this.next), ...all.slice(0, this.next)];
  }

  private pass(client: Socket, [backend, ...others]: Backend[]): void {
    client.on('error', () => undefined);
    if (!backend) return void client.destroy();
    const upstream = connect(backend.port, '127.0.0.1');
    const giveUp = () => {
      backend.isReady = false;
      this.pass(client, others);
    };
    upstream.once('error', giveUp);
    upstream.once('connect', () => {
      upstream.off('error', giveUp).on('error', () => undefined);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.sockets.add(from);
        from.setNoDelay(true);
        from.on('close', () => {
          this.sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    });
  }

  private async probe(backend: Backend): Promise<void> {
    backend.isReady = await fetch(`http://127.0.0.1:${backend.port}/readyz`, {
      signal: AbortSignal.timeout(PROBE_WITHIN_MS),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
