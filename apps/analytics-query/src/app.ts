import type { Type } from '@nestjs/common';
import { renderCubeError, type AppDefinition } from '@perkway/platform';
import { QUERY_EXAMPLE } from './api/api-examples.js';
import { ApiModule } from './api/api.module.js';
import { AppModule } from './app.module.js';
import type { AnalyticsQueryEnv, AnalyticsRole } from './env.js';
import { migrations } from './migrations/index.js';
import { IngestModule } from './ingest/ingest.module.js';
import { ReportingModule } from './reporting/reporting.module.js';
import { MaintenanceModule } from './maintenance/maintenance.module.js';
import { TrafficModule } from './traffic/traffic.module.js';

const ROLE_MODULES: Record<AnalyticsRole, Type[]> = {
  ingest: [IngestModule, MaintenanceModule, ReportingModule, TrafficModule],
  query: [ApiModule],
};

/** Enough for a filter of 20,000 ids. Parsing a body blocks the event loop: at most 50 ms at this size. */
const BODY_LIMIT = 512 * 1024;

export const defineApp = (env: AnalyticsQueryEnv): AppDefinition => ({
  name: 'analytics-query',
  module: { module: AppModule, imports: env.ANALYTICS_ROLES.flatMap((role) => ROLE_MODULES[role]) },
  migrations,
  env,
  openapi: {
    title: 'Perkway analytics',
    description:
      'Counts of all tracked events, in the Cube REST API. Send the token of the token endpoint as ' +
      '`Authorization: <token>`, without `Bearer`.',
    url: env.QUERY_URL,
    examples: { query: JSON.stringify(QUERY_EXAMPLE) },
  },
  hasRpcHandlers: env.ANALYTICS_ROLES.includes('ingest'),
  errors: renderCubeError,
  health: { body: (healthy) => ({ health: healthy ? 'HEALTH' : 'DOWN' }) },
  bodyLimit: BODY_LIMIT,
  configure: (app) => {
    // Dashboards run in browsers on any origin. The token is the credential; there are no cookies.
    app.enableCors({
      origin: '*',
      methods: ['GET', 'HEAD', 'POST'],
      allowedHeaders: ['authorization', 'content-type', 'x-cube-authorization', 'x-request-id'],
      exposedHeaders: [
        'x-request-id',
        'retry-after',
        'perkway-detail',
        'ratelimit-limit',
        'ratelimit-remaining',
        'ratelimit-reset',
      ],
      maxAge: 86_400,
      optionsSuccessStatus: 204,
      // Respond to every OPTIONS request like this, as Cube's own server does.
      strictPreflight: false,
    });
  },
});
