import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const ASK_EVERY_MS = 50;
const ANSWER_WITHIN_MS = 1_000;
/** The timeline grows with each promotion, so that of an old primary is behind. */
const TIMELINE = `select case when pg_is_in_recovery() then 0
  else ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int end as timeline`;

export interface PrimaryProxy {
  /** `url` with the proxy in place of its host and port. */
  through(url: string): string;
  /** Cuts off whoever is connected and lets nobody through until a server that was promoted since is seen. */
  fence(): void;
  close(): Promise<void>;
}

interface Member {
  url: string;
  host: string;
  port: number;
}

/** Asks one server again and again over a connection that it keeps, since making one costs both more than the question. */
class Asker {
  private client?: pg.Client;

  constructor(private readonly url: string) {}

  /** The timeline on which the server takes writes; 0 when it is a standby or does not answer. */
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
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      application_name: 'primary-proxy',
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  }
}

/**
 * One address in front of a primary and its standbys: passes connections to the server that takes writes, as the service
 * `-rw` of CloudNativePG does. Never to an old primary: once a promotion was seen, or `fence` called, only a server on a
 * later timeline is let through, and what is connected to another one is cut. Who comes while there is no primary is
 * sent away at once.
 *
 * @param urls of a superuser at each server
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
    const asker = new Asker(member.url);
    while (!isClosed) {
      const found = await asker.timeline();
      if (found > timeline) {
        timeline = found;
        if (primary !== member) cut();
        primary = member;
      }
      await sleep(ASK_EVERY_MS, undefined, { ref: false });
    }
    asker.close();
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
