import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Address {
  hostname: string;
  port: string;
}

/** A TCP proxy with which a test can interrupt connections to a server. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private isFrozen = false;

  private constructor(private readonly server: Server) {}

  /** @param target is called for each connection, which is closed if the result is undefined */
  static async listen(target: () => Address | undefined): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => {
      const address = target();
      if (!address) return client.destroy();
      const upstream = connect(Number(address.port), address.hostname);
      proxy.pass(client, upstream);
      proxy.pass(upstream, client);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Returns `url` with the proxy's host and port. */
  through(url: string): string {
    const changed = new URL(url);
    changed.host = `127.0.0.1:${this.port}`;
    return changed.href;
  }

  /** Stops passing data without closing connections, like a cut cable. New connections are accepted. */
  freeze(): void {
    this.isFrozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Passes data again, including data that arrived while it was frozen. */
  thaw(): void {
    this.isFrozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Closes all connections. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, 'close');
  }

  /** Passes data on without `pipe`, which would resume a frozen socket. */
  private pass(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.setNoDelay(true);
    from.on('error', () => {});
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!this.isFrozen) from.resume();
    });
    if (this.isFrozen) from.pause();
  }
}

/** Starts a proxy in front of one server. */
export const tcpProxy = (url: string): Promise<TcpProxy> => {
  const target = new URL(url);
  return TcpProxy.listen(() => target);
};
