import { ForbiddenException, type Type } from '@nestjs/common';
import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  HEADERS_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { ApplicationConfig } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { RouteConfig, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorFilter } from '../errors/error.filter.js';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | void;

interface DirectRoute {
  controller: Type<Record<string, Handler>>;
  method: string;
}

/** Metadata of features that a direct call does not support, because Nest implements them around handlers. */
const UNSUPPORTED = [
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  HEADERS_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
];
/** `@Req()` is the first parameter and `@Res()` the second. Nest's keys are `<kind>:<index>`. */
const REQUEST_AND_REPLY = '0:0 1:1';

/**
 * Lets Fastify call a handler of a hot path without Nest's router, whose promises cost more than the handler of a click
 * (docs/adr/0042-direct-handlers.md). The app's guards and error filter still apply. The handler takes `@Req()` and
 * `@Res()`, and sends the response itself. The app does not start if a direct handler has pipes, guards, interceptors
 * or filters of its own.
 */
export const Direct =
  () =>
  <Method extends (request: never, reply: FastifyReply) => Promise<void> | void>(
    prototype: object,
    method: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    const direct: DirectRoute = { controller: prototype.constructor as DirectRoute['controller'], method };
    RouteConfig({ direct })(prototype, method, descriptor as PropertyDescriptor);
  };

/** Calls `@Direct()` handlers directly. Call it after the global guards are set and before the app is initialized. */
export function callDirectly(app: NestFastifyApplication, errors: ErrorFilter): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRoute', (route) => {
    const direct = (route.config as { direct?: DirectRoute } | undefined)?.direct;
    if (direct) route.handler = directHandler(app, direct, route.handler as Handler, errors);
  });
}

function directHandler(
  app: NestFastifyApplication,
  { controller, method }: DirectRoute,
  viaNest: Handler,
  errors: ErrorFilter,
): Handler {
  const handler = controller.prototype[method] as Handler;
  const config = app.get(ApplicationConfig);
  requireDirect(controller, method, handler, config);
  const guards = config.getGlobalGuards();
  const instance = app.get(controller, { strict: false });

  /** Runs the guards from this one on; asynchronous only from the first that returns a promise. */
  const admit = (context: ExecutionContextHost, from = 0): void | Promise<void> => {
    for (let at = from; at < guards.length; at += 1) {
      const passed = guards[at]!.canActivate(context);
      if (passed === true) continue;
      return Promise.resolve(passed).then((later) => {
        if (later !== true) throw new ForbiddenException();
        return admit(context, at + 1);
      });
    }
  };

  return (request, reply) => {
    // Nest responds with 404 if a path parameter is empty.
    for (const name in request.params as object)
      if ((request.params as Record<string, string>)[name] === '') return viaNest(request, reply);
    const context = new ExecutionContextHost([request, reply], controller, handler);
    try {
      const admitted = admit(context);
      const done = admitted
        ? admitted.then(() => handler.call(instance, request, reply))
        : handler.call(instance, request, reply);
      done?.catch((error: unknown) => void errors.catch(error, context));
    } catch (error) {
      errors.catch(error, context);
    }
  };
}

/** @throws Error if Nest would do more for this handler than call it */
function requireDirect(controller: Type, method: string, handler: Handler, config: ApplicationConfig): void {
  const refuse = (what: string) => {
    throw new Error(`${controller.name}.${method} is @Direct(), so it cannot have ${what}`);
  };
  for (const key of UNSUPPORTED) {
    const isSet = [handler, controller].some((target) => Reflect.getMetadata(key, target) !== undefined);
    if (isSet || Reflect.getMetadata(key, controller, method) !== undefined) refuse(key.replaceAll('__', ''));
  }
  const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as object | undefined;
  if (
    Object.keys(args ?? {})
      .sort()
      .join(' ') !== REQUEST_AND_REPLY
  )
    refuse('other parameters than @Req() and @Res()');
  const interceptors = config.getGlobalInterceptors().filter((each) => !isForManagement(each));
  if (interceptors.length + config.getGlobalRequestInterceptors().length > 0)
    refuse('interceptors of the app');
  if (config.getGlobalRequestGuards().length > 0) refuse('request-scoped guards');
}

/** An interceptor with this member does nothing outside `/admin`, where no handler is direct. */
export interface ForManagement {
  readonly isForManagement: true;
}
const isForManagement = (interceptor: object): boolean => 'isForManagement' in interceptor;
