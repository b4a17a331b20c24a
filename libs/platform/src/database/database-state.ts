import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Gauge, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../config/app-tokens.js';
import { LOGGER } from '../logging/logger.js';
import { reasonOf } from '../logging/reason-of.js';
import { replacedMigrationName, type MigrationClass } from './data-source.js';

/**
 * `behind`: the schema lacks a migration of this build. `unavailable`: the database does not respond or rejects the
 * connection.
 */
export type SchemaState = 'current' | 'behind' | 'unavailable';

/** Below the default timeout of Kubernetes probes, 1 s, so that the probe gets our response. */
const PING_TIMEOUT_MS = 800;
const RETRY_MS = 1_000;
const UNDEFINED_TABLE = '42P01';

const namesOf = (migrations: MigrationClass[]): string[] =>
  migrations.map((Migration) => new Migration().name ?? Migration.name);

/**
 * Connects the app to its database in the background and tells whether the schema fits this build. The app listens
 * meanwhile, and statements fail as they do during an outage.
 */
@Injectable()
export class DatabaseState implements OnModuleInit, OnApplicationShutdown {
  private readonly migrations: string[];
  private isClosed = false;
  private wasCurrent = false;
  private reported = '';
  private settle: () => void = () => undefined;

  /** Resolves when the schema is current for the first time; never if the app closes before. */
  readonly whenCurrent = new Promise<void>((resolve) => (this.settle = resolve));

  constructor(
    private readonly dataSource: DataSource,
    @Inject(MIGRATIONS) migrations: MigrationClass[],
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
  ) {
    this.migrations = namesOf(migrations);
    const check = () => this.check();
    new Gauge({
      name: 'database_available',
      help: '1 while the database responds',
      registers: [registry],
      async collect() {
        this.set(Number((await check()) !== 'unavailable'));
      },
    });
  }

  /** Waits for the first attempt only, which has a timeout. */
  async onModuleInit() {
    const isConnected = await this.connect();
    if (!isConnected || (await this.check()) !== 'current') void this.retryUntilCurrent(isConnected);
  }

  onApplicationShutdown() {
    this.isClosed = true;
  }

  /** True once the schema was current. */
  get hasBeenCurrent(): boolean {
    return this.wasCurrent;
  }

  /** Checks the database, within one second. */
  async check(): Promise<SchemaState> {
    if (!this.dataSource.isInitialized) return 'unavailable';
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<SchemaState>((resolve) => {
      timer = setTimeout(() => resolve(this.note('unavailable', 'no response in time')), PING_TIMEOUT_MS);
    });
    const state = await Promise.race([this.request(), late]);
    clearTimeout(timer);
    return state;
  }

  private async request(): Promise<SchemaState> {
    try {
      if (this.wasCurrent) await this.dataSource.query('select 1');
      const missing = this.wasCurrent ? [] : await this.missing();
      return missing.length > 0
        ? this.note('behind', `it lacks the migration ${missing.at(-1)}`)
        : this.note('current');
    } catch (error) {
      const isEmpty = (error as { code?: string }).code === UNDEFINED_TABLE;
      return isEmpty ? this.note('behind', 'it is empty') : this.note('unavailable', reasonOf(error));
    }
  }

  /** Returns the migrations that have not run. One that another release replaced has run, under a changed name. */
  private async missing(): Promise<string[]> {
    const done = await this.dataSource.query<{ name: string }[]>('select name from migrations');
    const names = new Set(done.map(({ name }) => name));
    return this.migrations.filter((name) => !names.has(name) && !names.has(replacedMigrationName(name)));
  }

  private async connect(): Promise<boolean> {
    try {
      await this.dataSource.initialize();
      if (this.isClosed) await this.dataSource.destroy();
      return true;
    } catch (error) {
      this.note('unavailable', reasonOf(error));
      return false;
    }
  }

  private async retryUntilCurrent(isConnected: boolean) {
    for (let connected = isConnected; !this.isClosed && !this.wasCurrent;) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (this.isClosed) return;
      connected ||= await this.connect();
      if (connected) await this.check();
    }
  }

  /** Logs changes of the state. */
  private note(state: SchemaState, reason = ''): SchemaState {
    if (state === 'current' && !this.wasCurrent) {
      this.wasCurrent = true;
      this.settle();
    }
    const message = {
      current: '',
      behind: `not ready: the schema is behind (${reason}), run the migrations of this release`,
      unavailable: `the database is unavailable (${reason})`,
    }[state];
    if (message !== this.reported) {
      if (message) this.logger.warn(message);
      else this.logger.info('the database is available');
      this.reported = message;
    }
    return state;
  }
}
