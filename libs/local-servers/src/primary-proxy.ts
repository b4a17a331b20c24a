import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const POLL_INTERVAL_MS = 50;
const RESPONSE_TIMEOUT_MS = 1_000;
/**
 * Returns the current timeline, or 0 on a standby. Each promotion increments the timeline, so an old primary's is
 * lower.
 */
const TIMELINE = `select case when pg_is_in_recovery() then 0
  else ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int end as timeline`;

export interface PrimaryProxy {
  /** Returns `url` with the proxy's host and port. */
  through(url: string): string;
  /** Closes all connections and accepts none until a newly promoted server appears. */
  fence(): void;
  close(): Promise<void>;
}

interface Member {
  url: string;
  host: string;
  port: number;
}

/** Polls one server over a persistent connection, because connecting costs more than the query. */
class RpcCaller {
  private client?: pg.Client;

  constructor(private readonly url: string) {}

  /** Returns the timeline on which the server accepts writes, or 0 if it is a standby or unreachable. */
  async timeline(): Promise<number> {
    try {
      this.client ??= await this.connect();
      return (await this.client.query<{ timeline: number }>(TIMELINE)).rows[0]!.timeline;
    } catch {
      this.close();
      return 0;
    }
  }

  close(): void {
    void this.client?.end().catch(() => {});
    this.client = undefined;
  }

  private async connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: RESPONSE_TIMEOUT_MS,
      query_timeout: RESPONSE_TIMEOUT_MS,
      application_name: 'primary-proxy',
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  }
}

/**
 * A TCP proxy that forwards connections to the primary, like the service `-rw` of CloudNativePG. After a promotion, or
 * a call of `fence`, it accepts only a server on a later timeline and closes connections to any other one. While there
 * is no primary, it closes new connections at once.
 *
 * @param urls connect to each server as a superuser
 */
export async function startPrimaryProxy(urls: string[]): Promise<PrimaryProxy> {
  const members = urls.map((url): Member => {
    const { hostname, port } = new URL(url);
    return { url, host: hostname, port: Number(port) };
  });
  const clients = new Set<Socket>();
  let primary: Member | undefined;
  let timeline = 0;
  let isClosed = false;

  const cut = () => {
    for (const client of clients) client.destroy();
  };
  const watch = async (member: Member): Promise<void> => {
    const rpcCaller = new RpcCaller(member.url);
    while (!isClosed) {
      const found = await rpcCaller.timeline();
      if (found > timeline) {
        timeline = found;
        if (primary !== member) cut();
        primary = member;
      }
      await sleep(POLL_INTERVAL_MS, undefined, { ref: false });
    }
    rpcCaller.close();
  };

  const server = createServer((client) => {
    if (!primary) return client.destroy();
    const upstream = connect(primary.port, primary.host);
    clients.add(client);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('close', () => {
        clients.delete(client);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const member of members) void watch(member);

  return {
    through: (url) => {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${port}`;
      return changed.href;
    },
    fence: () => {
      primary = undefined;
      cut();
    },
    close: async () => {
      isClosed = true;
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
