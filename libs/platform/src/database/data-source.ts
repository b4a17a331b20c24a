import pg from 'pg';
import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { SteadyClient } from './steady-client.js';

export type MigrationClass = new () => MigrationInterface;

/** The name under which a migration stays known that another one has taken the place of. */
export const formerly = (name: string): string => `Former${name}`;

const CONNECT_TIMEOUT_MS = 2_000;
/**
 * No statement may outlive this; a caller gets 503 instead of a hang. The server ends it before, by the settings of the
 * role (libs/local-servers/src/provision-database.ts): as a parameter of the connection a pooler would refuse it.
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
  extra: { Client: SteadyClient, query_timeout: QUERY_TIMEOUT_MS, keepAlive: true },
});

/** Knows its entities before it is connected, so that whatever is asked of it fails as one that is away. */
export class EarlyDataSource extends DataSource {
  static async make(options: DataSourceOptions): Promise<DataSource> {
    const dataSource = new EarlyDataSource(options);
    await dataSource.buildMetadatas();
    return dataSource;
  }
}
