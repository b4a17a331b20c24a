import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { APP_NAME, ENV } from '../config/app-tokens.js';
import type { DatabaseEnv } from '../config/load-env.js';
import { dataSourceOptions, EarlyDataSource } from './data-source.js';
import { DatabaseState } from './database-state.js';

/**
 * Provides the app's one data source, in its own schema and role. The app starts without Postgres. Feature modules
 * register their entities with `TypeOrmModule.forFeature`.
 */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [ENV, APP_NAME],
      useFactory: (env: DatabaseEnv, app: string) => ({
        ...dataSourceOptions(env.DATABASE_URL, app, env.DATABASE_POOL_SIZE),
        autoLoadEntities: true,
        // DatabaseState connects in the background, so that the app can listen before that.
        manualInitialization: true,
      }),
      dataSourceFactory: (options) => EarlyDataSource.make(options!),
    }),
  ],
  providers: [DatabaseState],
  exports: [DatabaseState],
})
export class DatabaseModule {}
