import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { TcpProxy } from './tcp-proxy.js';

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

/** Polls one server over a persistent connection, because connecting costs more than the query. */
class TimelineWatcher {
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
  let primary: URL | undefined;
  let timeline = 0;
  let isClosed = false;
  const proxy = await TcpProxy.listen(() => primary);

  const watch = async (url: string): Promise<void> => {
    const watcher = new TimelineWatcher(url);
    while (!isClosed) {
      const found = await watcher.timeline();
      if (found > timeline) {
        timeline = found;
        if (primary?.href !== new URL(url).href) proxy.cut();
        primary = new URL(url);
      }
      await sleep(POLL_INTERVAL_MS, undefined, { ref: false });
    }
    watcher.close();
  };
  for (const url of urls) void watch(url);

  return {
    through: (url) => proxy.through(url),
    fence: () => {
      primary = undefined;
      proxy.cut();
    },
    close: async () => {
      isClosed = true;
      await proxy.close();
    },
  };
}
