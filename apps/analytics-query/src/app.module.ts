import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';
import { QueryModule } from './api/query.module.js';
import { ANALYTICS_QUERY_ENV, type AnalyticsQueryEnv } from './env.js';
import { IngestModule } from './ingest/ingest.module.js';

/** Both roles, or the one that `ANALYTICS_ROLES` names. */
@Global()
@Module({})
export class AppModule {
  static register(env: AnalyticsQueryEnv): DynamicModule {
    const roles = new Set(env.ANALYTICS_ROLES);
    return {
      module: AppModule,
      imports: [
        DatabaseModule.register(env, { app: 'analytics-query' }),
        ...(roles.has('ingest') ? [IngestModule] : []),
        ...(roles.has('query') ? [QueryModule] : []),
      ],
      providers: [{ provide: ANALYTICS_QUERY_ENV, useValue: env }],
      exports: [ANALYTICS_QUERY_ENV],
    };
  }
}
