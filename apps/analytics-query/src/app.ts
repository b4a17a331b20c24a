import type { Type } from '@nestjs/common';
import { renderCubeError, type AppDefinition } from '@perkway/platform';
import { QUERY_EXAMPLE } from './api/api-examples.js';
import { ApiModule } from './api/api.module.js';
import { AppModule } from './app.module.js';
import type { AnalyticsQueryEnv, AnalyticsRole } from './env.js';
import { migrations } from './migrations/index.js';
import { IngestModule } from './ingest/ingest.module.js';
import { ReportingModule } from './reporting/reporting.module.js';
import { UpkeepModule } from './upkeep/upkeep.module.js';

const ROLE_MODULES: Record<AnalyticsRole, Type[]> = {
  ingest: [IngestModule, UpkeepModule, ReportingModule],
  query: [ApiModule],
};

/** Filters may list many values. */
const BODY_LIMIT = 8 * 1024 * 1024;

export const defineApp = (env: AnalyticsQueryEnv): AppDefinition => ({
  name: 'analytics-query',
  module: { module: AppModule, imports: env.ANALYTICS_ROLES.flatMap((role) => ROLE_MODULES[role]) },
  migrations,
  env,
  openapi: {
    title: 'Perkway analytics',
    description:
      'Counts of everything tracked, in the Cube REST API. The token of the token endpoint goes into ' +
      '`Authorization` as it is, without `Bearer`.',
    url: env.QUERY_URL,
    examples: { query: JSON.stringify(QUERY_EXAMPLE) },
  },
  answersRequests: env.ANALYTICS_ROLES.includes('ingest'),
  errors: renderCubeError,
  health: { body: (healthy) => ({ health: healthy ? 'HEALTH' : 'DOWN' }) },
  bodyLimit: BODY_LIMIT,
  configure: (app) => {
    // Dashboards run in browsers on any origin; the token is the credential, there are no cookies.
    app.enableCors({
      origin: '*',
      methods: ['GET', 'HEAD', 'POST'],
      allowedHeaders: ['authorization', 'content-type', 'x-cube-authorization', 'x-request-id'],
      maxAge: 86_400,
      optionsSuccessStatus: 204,
      // Every OPTIONS is answered so, as Cube's own server does.
      strictPreflight: false,
    });
  },
});
