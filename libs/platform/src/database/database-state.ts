import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../config/app-tokens.js';
import { LOGGER } from '../logging/logger.js';
import { reasonOf } from '../logging/reason-of.js';
import { formerly, type MigrationClass } from './data-source.js';

/** `behind`: it lacks a migration that this build knows. `away`: it does not answer, or refuses to. */
export type SchemaState = 'current' | 'behind' | 'away';

/** Shorter than the second after which a Kubernetes probe gives up, so that the answer is always ours. */
const PING_TIMEOUT_MS = 800;
const RETRY_MS = 1_000;
const UNDEFINED_TABLE = '42P01';

const namesOf = (migrations: MigrationClass[]): string[] =>
  migrations.map((Migration) => new Migration().name ?? Migration.name);

/**
 * Connects the app to its database in the background, for as long as that takes, and knows whether the schema is one
 * that this build can work with. The app listens meanwhile; statements fail as they do while the database is away.
 */
@Injectable()
export class DatabaseState implements OnModuleInit, OnApplicationShutdown {
  private readonly migrations: string[];
  private isClosed = false;
  private wasCurrent = false;
  private reported = '';
  private settle: () => void = () => undefined;

  /** Resolves when the schema is current for the first time; never, if the app is closed before. */
  readonly whenCurrent = new Promise<void>((resolve) => (this.settle = resolve));

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(MIGRATIONS) migrations: MigrationClass[],
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.migrations = namesOf(migrations);
  }

  /** Waits for the first attempt only, which has a time limit. */
  async onModuleInit() {
    const isConnected = await this.connect();
    if (!isConnected || (await this.check()) !== 'current') void this.tryOn(isConnected);
  }

  onApplicationShutdown() {
    this.isClosed = true;
  }

  /** True once the schema has been current. */
  get hasBeenCurrent(): boolean {
    return this.wasCurrent;
  }

  /** Asks the database, within less than a second. */
  async check(): Promise<SchemaState> {
    if (!this.dataSource.isInitialized) return 'away';
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<SchemaState>((resolve) => {
      timer = setTimeout(() => resolve(this.note('away', 'no answer in time')), PING_TIMEOUT_MS);
    });
    const state = await Promise.race([this.ask(), late]);
    clearTimeout(timer);
    return state;
  }

  private async ask(): Promise<SchemaState> {
    try {
      if (this.wasCurrent) await this.dataSource.query('select 1');
      const missing = this.wasCurrent ? [] : await this.missing();
      return missing.length > 0
        ? this.note('behind', `it lacks the migration ${missing.at(-1)}`)
        : this.note('current');
    } catch (error) {
      const isEmpty = (error as { code?: string }).code === UNDEFINED_TABLE;
      return isEmpty ? this.note('behind', 'it is empty') : this.note('away', reasonOf(error));
    }
  }

  /** A migration that a later one has taken the place of was there, and the schema is newer than this build. */
  private async missing(): Promise<string[]> {
    const done: { name: string }[] = await this.dataSource.query('select name from migrations');
    const names = new Set(done.map(({ name }) => name));
    return this.migrations.filter((name) => !names.has(name) && !names.has(formerly(name)));
  }

  private async connect(): Promise<boolean> {
    try {
      await this.dataSource.initialize();
      if (this.isClosed) await this.dataSource.destroy();
      return true;
    } catch (error) {
      this.note('away', reasonOf(error));
      return false;
    }
  }

  private async tryOn(isConnected: boolean) {
    for (let connected = isConnected; !this.isClosed && !this.wasCurrent;) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (this.isClosed) return;
      connected ||= await this.connect();
      if (connected) await this.check();
    }
  }

  /** Says in the log what has changed. */
  private note(state: SchemaState, reason = ''): SchemaState {
    if (state === 'current' && !this.wasCurrent) {
      this.wasCurrent = true;
      this.settle();
    }
    const said = {
      current: '',
      behind: `not ready: the schema is behind (${reason}), run the migrations of this release`,
      away: `not ready: the database is away (${reason})`,
    }[state];
    if (said !== this.reported) {
      if (said) this.logger.warn(said);
      else this.logger.info('the database is there');
      this.reported = said;
    }
    return state;
  }
}
