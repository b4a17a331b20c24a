export * from './bootstrap.js';
export * from './cache/refreshing-cache.js';
export * from './cache/shared-queries.js';
export * from './clock.js';
export * from './config/app-tokens.js';
export * from './config/load-env.js';
export * from './create-app.js';
export { copyIn } from './database/copy-in.js';
export * from './database/data-source.js';
export * from './database/database.module.js';
export * from './database/database-state.js';
export * from './database/run-migrations.js';
export * from './database/resilient-client.js';
export * from './errors/brand.js';
export * from './errors/caller-id.js';
export * from './errors/error-renderer.js';
export * from './errors/error.filter.js';
export * from './errors/is-instant.js';
export * from './errors/read-one-of.js';
export * from './errors/is-omittable.js';
export * from './errors/is-text.js';
export * from './errors/is-web-url.js';
export * from './errors/link-pages.js';
export * from './errors/to-api-error.js';
export * from './errors/translations.js';
export { toApiError } from './errors/to-api-error.js';
export * from './errors/validation.pipe.js';
export * from './health/health.module.js';
export * from './http/client-ip.js';
export {
  acceptPlainJson,
  acceptStreams,
  parseBody,
  ParsesBody,
  useMediaType,
} from './http/deferred-body.guard.js';
export { Direct, type ForManagement } from './http/direct.js';
export * from './http/failed-attempt-limiter.js';
export * from './http/language-preference.js';
export * from './http/public.decorator.js';
export * from './http/replica-counts.js';
export { addSiteHeaders } from './http/site-headers.js';
export { wantsCsv } from './http/wants-csv.js';
export * from './logging/logger.js';
export * from './loop.js';
export * from './nats/rpc-handler.js';
export * from './nats/nats.service.js';
export * from './nats/rpc-client.js';
export * from './openapi/api-language.js';
export * from './openapi/api-problems.js';
export * from './openapi/credentials.js';
export * from './openapi/openapi.js';
export * from './openapi/rate-limit-headers.js';
export * from './pagination/api-page.js';
export * from './pagination/conditions.js';
export { CursorSealer } from './pagination/cursor.js';
export * from './pagination/filters.js';
export * from './pagination/keyset-paginator.js';
export * from './resources/api-resource.js';
export * from './resources/etag.js';
export * from './resources/lock-row.js';
export { ReadBack } from './resources/read-back.js';
export * from './resources/list-resources.js';
export * from './resources/upsert-resource.js';
