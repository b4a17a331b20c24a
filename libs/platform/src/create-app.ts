import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { ApiError } from '@perkway/domain';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { APP_NAME, ENV, HOME, MIGRATIONS } from './config/app-tokens.js';
import type { PlatformEnv } from './config/load-env.js';
import type { MigrationClass } from './database/data-source.js';
import { ErrorFilter, sendError } from './errors/error.filter.js';
import { renderProblem, type ErrorRenderer } from './errors/error-renderer.js';
import { createValidationPipe } from './errors/validation.pipe.js';
import { HEALTH_OPTIONS, HealthModule, type HealthOptions } from './health/health.module.js';
import { ErrorsController } from './host-pages/errors.controller.js';
import { HomeController } from './host-pages/home.controller.js';
import { AllowedMethods } from './http/allowed-methods.js';
import { trustedHops } from './http/client-ip.js';
import { CONNECTION_LIMITS, limitConnections, type ConnectionLimits } from './http/connections.js';
import { deferBodyErrors, DeferredBodyGuard } from './http/deferred-body.guard.js';
import { callDirectly } from './http/direct.js';
import { hideInternalRoutes } from './http/internal-routes.js';
import { refuseHostless, refuseUnreadable } from './http/refuse-unreadable.js';
import { createLogger, LOGGER, NestLogger } from './logging/logger.js';
import { RequestLog, routeOf } from './logging/request-log.js';
import { Loops } from './loop.js';
import { MetricsController, MetricsModule } from './metrics/metrics.module.js';
import { RequestDurations } from './metrics/request-durations.js';
import { NatsModule } from './nats/nats.module.js';
import { NatsService } from './nats/nats.service.js';
import { RpcServer } from './nats/rpc-server.js';
import { makeDocument, setupOpenApi, type OpenApiOptions } from './openapi/openapi.js';

/** Interval of the check for request heads and bodies that are late. */
const TIMEOUTS_EVERY_MS = 5_000;

export interface AppDefinition {
  /** Folder name of the app. Its logs, metrics and NATS connections carry it. */
  name: string;
  /** The app's own modules. */
  module: DynamicModule | Type;
  env: PlatformEnv;
  /** Error format of this host. Default: RFC 9457 problem details. */
  errors?: ErrorRenderer;
  /** True if the app has RPC handlers. */
  hasRpcHandlers?: boolean;
  /** Title and description for `/docs`, `/docs-json` and `/docs-yaml`. Every app has them; test apps may omit them. */
  openapi?: OpenApiOptions;
  health?: HealthOptions;
  /** Migrations of the app's schema. The app is not ready before the newest has run. */
  migrations?: MigrationClass[];
  /** Maximum body size in bytes. Default: 1 MiB. */
  bodyLimit?: number;
  /** Time in which a request must arrive, in milliseconds. Default: 60 s. */
  requestTimeout?: number;
  /** Overridden in tests. Default: `CONNECTION_LIMITS`. */
  connections?: Partial<ConnectionLimits>;
  /** Configures the app before it starts: plug-ins, CORS. */
  configure?: (app: NestFastifyApplication) => void | Promise<void>;
  /** Overridden in tests. Default: JSON lines on standard output. */
  logger?: Logger;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,100}$/;
const requestIdOf = (request: IncomingMessage): string => {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
};

@Module({})
class RootModule {}

const rootModule = (
  { name, module, env, health = {}, openapi, migrations = [] }: AppDefinition,
  logger: Logger,
): DynamicModule => ({
  module: RootModule,
  global: true,
  imports: [MetricsModule, HealthModule, NatsModule, module as DynamicModule],
  controllers: [
    ...(env.METRICS_PORT === undefined ? [MetricsController] : []),
    ...(openapi ? [ErrorsController] : []),
    ...(openapi && openapi.withPage !== false ? [HomeController] : []),
  ],
  providers: [
    { provide: ENV, useValue: env },
    { provide: APP_NAME, useValue: name },
    { provide: LOGGER, useValue: logger },
    { provide: HEALTH_OPTIONS, useValue: health },
    { provide: HOME, useValue: openapi },
    { provide: MIGRATIONS, useValue: migrations },
    Loops,
  ],
  exports: [ENV, APP_NAME, LOGGER, HEALTH_OPTIONS, MIGRATIONS, Loops],
});

/** Returns the app, configured and initialized but not listening. Tests use it as it is. */
export async function createApp(definition: AppDefinition): Promise<NestFastifyApplication> {
  const { name, env, errors = renderProblem } = definition;
  const logger = definition.logger ?? createLogger(name, env.LOG_LEVEL);
  const connections = { ...CONNECTION_LIMITS, ...definition.connections };
  const adapter = new FastifyAdapter({
    logger: false,
    trustProxy: trustedHops(env.TRUSTED_PROXIES),
    bodyLimit: definition.bodyLimit ?? 1024 * 1024,
    routerOptions: { maxParamLength: 16 * 1024 },
    requestTimeout: definition.requestTimeout ?? 60_000,
    // Must exceed the keep-alive time of load balancers.
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // Requests that arrive while the server closes are still served, with `Connection: close`.
    return503OnClosing: false,
    genReqId: requestIdOf,
    // Node would reject a request without Host in its own format, so `refuseHostless` does it instead.
    http: {
      requireHostHeader: false,
      headersTimeout: connections.headWithinMs,
      connectionsCheckingInterval: Math.min(TIMEOUTS_EVERY_MS, connections.headWithinMs),
    },
    clientErrorHandler: refuseUnreadable(errors),
    // No hook has run for this request, and none will.
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) =>
      sendError(
        reply.header('x-request-id', request.id),
        new ApiError('VALIDATION_FAILED', 'The URL cannot be decoded'),
        errors,
      ),
  });
  const methods = new AllowedMethods(adapter.getInstance());
  refuseHostless(adapter.getInstance(), errors);
  deferBodyErrors(adapter.getInstance());
  ignoreExpectations(adapter.getInstance());

  const app = await NestFactory.create<NestFastifyApplication>(rootModule(definition, logger), adapter, {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  const filter = new ErrorFilter(errors, logger, methods);
  app.useGlobalFilters(filter);
  app.useGlobalGuards(new DeferredBodyGuard());
  app.useGlobalPipes(createValidationPipe());
  callDirectly(app, filter);
  observeRequests(app, logger);
  limitConnections(adapter.getInstance(), app.get(Registry), connections);
  hideInternalRoutes(adapter.getInstance(), env, errors);
  if (definition.hasRpcHandlers)
    // RPC handlers share the HTTP side's filter and pipe.
    app.connectMicroservice(
      { strategy: new RpcServer(app.get(NatsService), name) },
      { inheritAppConfig: true },
    );
  await definition.configure?.(app);
  if (definition.openapi) setupOpenApi(app, definition.openapi, errors, env);
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  // Not awaited, so that the app starts and serves what it can while the broker is unavailable.
  if (definition.hasRpcHandlers) void app.startAllMicroservices();
  return app;
}

/** Returns the OpenAPI document of an app without starting it, so no server is needed. */
export async function makeAppDocument(definition: AppDefinition): Promise<OpenAPIObject> {
  const { name, openapi, errors = renderProblem } = definition;
  if (!openapi) throw new Error(`${name} does not define openapi`);
  const app = await NestFactory.create(
    rootModule(definition, createLogger(name, 'silent')),
    new FastifyAdapter(),
    {
      preview: true,
      logger: false,
      abortOnError: false,
    },
  );
  return makeDocument(app, openapi, errors);
}

/** A server may ignore unknown expectations (RFC 9110, 10.1.1). Node would respond with a bare 417. */
function ignoreExpectations({ server }: FastifyInstance) {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Adds request ids, a duration histogram, and a log line for each rejected or failed request. */
function observeRequests(app: NestFastifyApplication, logger: Logger) {
  const durations = new RequestDurations(app.get(Registry));
  const log = new RequestLog(logger);
  const fastify = app.getHttpAdapter().getInstance();
  // Set on send, because responses of the framework itself pass no earlier hook.
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    durations.observe(request.method, routeOf(request), reply.statusCode, reply.elapsedTime / 1000);
    log.write(reply);
    done();
  });
}
