import pg from 'pg';
import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { ResilientClient } from './resilient-client.js';

export type MigrationClass = new () => MigrationInterface;

/** Returns the name that a replaced migration gets in the table `migrations`. */
export const replacedMigrationName = (name: string): string => `Former${name}`;

const CONNECT_TIMEOUT_MS = 2_000;
/**
 * No statement may run longer; the caller gets 503 instead of a hang. The server's own timeout is shorter and set on
 * the role (libs/local-servers/src/provision-database.ts), because poolers reject it as a startup parameter.
 */
const QUERY_TIMEOUT_MS = 6_000;

export const dataSourceOptions = (url: string, app: string, poolSize: number): DataSourceOptions => ({
  type: 'postgres',
  driver: pg,
  url,
  synchronize: false,
  logging: false,
  applicationName: app,
  poolSize,
  connectTimeoutMS: CONNECT_TIMEOUT_MS,
  extra: { Client: ResilientClient, query_timeout: QUERY_TIMEOUT_MS, keepAlive: true },
});

/**
 * A data source that can be used before it is connected. TypeORM builds metadata while connecting; building it earlier
 * lets queries fail with a connection error, as in an outage.
 */
export class EarlyDataSource extends DataSource {
  static async make(options: DataSourceOptions): Promise<DataSource> {
    const dataSource = new EarlyDataSource(options);
    await dataSource.buildMetadatas();
    return dataSource;
  }
}
