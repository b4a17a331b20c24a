import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import type { LocalServer } from './local-server.js';
import { startPostgres, type PostgresOptions } from './postgres-server.js';
import { startPrimaryProxy, type PrimaryProxy } from './primary-proxy.js';
import {
  promoteStandby,
  REPLICATING,
  setSynchronousStandbys,
  startStandby,
  stopFollowing,
} from './standby.js';

export interface PostgresPairOptions extends Pick<
  PostgresOptions,
  'superuserPassword' | 'durable' | 'dieWithParent' | 'settings'
> {
  /** Holds both clusters and their logs; created if missing. */
  folder: string;
}

interface Member {
  name: string;
  options: PostgresOptions;
  server: LocalServer;
}

/** A primary and a synchronous standby behind one address, as CloudNativePG runs them. */
export class PostgresPair {
  private constructor(
    private primaryMember: Member,
    private standbyMember: Member,
    private readonly front: PrimaryProxy,
  ) {}

  static async start({ folder, ...shared }: PostgresPairOptions): Promise<PostgresPair> {
    const optionsOf = async (name: string): Promise<PostgresOptions> => ({
      ...shared,
      settings: { ...REPLICATING, ...shared.settings },
      // Fixed, so that the proxy and a restarted server use the same port.
      port: await freePort(),
      dataDir: join(folder, name),
      logFile: join(folder, `${name}.log`),
    });
    const [first, second] = [await optionsOf('first'), await optionsOf('second')];
    const primary = await startPostgres(first);
    try {
      const standby = await startStandby({
        ...second,
        name: 'second',
        primary: { url: primary.url, dataDir: first.dataDir },
      });
      await setSynchronousStandbys(primary.url, ['second']);
      return new PostgresPair(
        { name: 'first', options: first, server: primary },
        { name: 'second', options: second, server: standby },
        await startPrimaryProxy([primary.url, standby.url]),
      );
    } catch (error) {
      await primary.kill();
      throw error;
    }
  }

  /** The superuser's URL through the proxy. */
  get url(): string {
    return this.front.through(this.primaryMember.server.url);
  }

  get primary(): LocalServer {
    return this.primaryMember.server;
  }

  get standby(): LocalServer {
    return this.standbyMember.server;
  }

  /** Stops replication, so that commits are on the primary alone and do not wait for the standby. */
  async cutOffStandby(): Promise<void> {
    await setSynchronousStandbys(this.primary.url, []);
    await stopFollowing(this.standby.url);
  }

  /** Promotes the standby after fencing the old primary, which may still be running. */
  async failOver(): Promise<void> {
    this.front.fence();
    await promoteStandby(this.standby.url);
    [this.primaryMember, this.standbyMember] = [this.standbyMember, this.primaryMember];
  }

  /** Makes the old primary the synchronous standby, from a new copy. Commits that only it had are lost. */
  async rejoin(): Promise<void> {
    const { name, options, server } = this.standbyMember;
    await server.kill();
    await rm(options.dataDir, { recursive: true, force: true });
    const primary = { url: this.primary.url, dataDir: this.primaryMember.options.dataDir };
    this.standbyMember.server = await startStandby({ ...options, name, primary });
    await setSynchronousStandbys(primary.url, [name]);
  }

  async close(): Promise<void> {
    await this.front.close();
    await Promise.all([this.primary.kill(), this.standby.kill()]);
  }
}
