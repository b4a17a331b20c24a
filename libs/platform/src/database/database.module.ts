import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSourceOptions, MigrationInterface } from 'typeorm';
import { APP_NAME, ENV } from '../config/app-tokens.js';
import type { DatabaseEnv } from '../config/load-env.js';
import { SteadyClient } from './steady-client.js';

export type MigrationClass = new () => MigrationInterface;

/** No statement may outlive these; a caller gets 503 instead of a hang. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 5_000;

export const dataSourceOptions = (url: string, app: string, poolSize: number): DataSourceOptions => ({
  type: 'postgres',
  driver: pg,
  url,
  synchronize: false,
  logging: false,
  applicationName: app,
  poolSize,
  connectTimeoutMS: CONNECT_TIMEOUT_MS,
  extra: {
    Client: SteadyClient,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // Longer than the server's own limit: it fires only when the server or the way to it is gone.
    query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
  },
});

/**
 * The app's one data source, in its own schema and role. Waits for Postgres at start, however long that takes. Each
 * feature's module names its entities with `TypeOrmModule.forFeature`.
 */
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [ENV, APP_NAME],
      useFactory: (env: DatabaseEnv, app: string) => ({
        ...dataSourceOptions(env.DATABASE_URL, app, env.DATABASE_POOL_SIZE),
        autoLoadEntities: true,
        retryAttempts: Number.MAX_SAFE_INTEGER,
        retryDelay: 1_000,
      }),
    }),
  ],
})
export class DatabaseModule {}
