import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ApiError } from '@perkway/domain';
import type { FastifyContentTypeParser, FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { BodyMemoryBudget } from './body-memory-budget.js';
import { networkOf, normalizeIp } from './client-ip.js';

const BODY_TEXT = Symbol('bodyText');
const BODY_ERROR = Symbol('bodyError');
const IS_UNREAD = Symbol('isUnread');
const STREAMS = Symbol('streams');
const BODY_BUDGET = Symbol('body memory budget');
const RELEASE_BUDGET = Symbol('releaseBudget');
type Server = FastifyInstance & {
  /** Content types that each route takes as a stream, by route pattern. */
  [STREAMS]?: Map<string, string[]>;
  [BODY_BUDGET]?: BodyMemoryBudget;
};
type Deferred = FastifyRequest & {
  [BODY_TEXT]?: string;
  [BODY_ERROR]?: ApiError;
  [IS_UNREAD]?: true;
  [RELEASE_BUDGET]?: () => void;
};

/** A content type that Fastify can parse: type, subtype, optional parameters. */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Budgets for bodies above `SMALL_BODY_BYTES`: of all together, and per address (an IPv6 /64 counts as one). */
const BUDGET_BYTES = 16 * 1024 * 1024;
const BUDGET_PER_ADDRESS_BYTES = BUDGET_BYTES / 4;
const SMALL_BODY_BYTES = 16 * 1024;

/** Maximum number of nested levels of JSON. No valid body of the API has half as many. */
const MAX_DEPTH = 100;

/**
 * Fastify reads bodies before any guard runs. Credentials must be checked first (401, 403, then 400), so the raw text
 * is kept here and parsed or rejected by the guard below, after authentication. An unknown caller cannot make an app
 * parse megabytes.
 */
export function deferBodyErrors(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', readJson);
  fastify.addContentTypeParser('*', refuseMediaType);
  (fastify as Server)[BODY_BUDGET] = new BodyMemoryBudget(BUDGET_BYTES, BUDGET_PER_ADDRESS_BYTES);
  fastify.addHook('onResponse', (request: Deferred, _reply, done) => {
    request[RELEASE_BUDGET]?.();
    done();
  });
  fastify.addHook('onRequest', ({ headers }, _reply, done) => {
    // Fastify would reject a malformed type before any guard runs. As an unknown type, it goes to `refuseMediaType`.
    if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type']))
      headers['content-type'] = UNKNOWN_TYPE;
    done();
  });
}

/**
 * Lets one route take JSON that is sent as `text/plain`. `navigator.sendBeacon` uses this type for a string, and it
 * needs no CORS preflight.
 *
 * @param route its pattern, such as `/track/:campaignId`
 */
export function acceptPlainJson(fastify: FastifyInstance, route: string): void {
  fastify.addContentTypeParser('text/plain', (request: Deferred, payload, done) => {
    if (request.routeOptions.url === route) readJson(request, payload, done);
    else refuseMediaType(request, payload, done);
  });
}

/**
 * Gives some routes the bodies of these types as an unread `Readable` of any length, so that credentials are checked
 * first. Other routes reject them like any unknown type.
 *
 * @param routes their patterns, such as `/admin/pools/:poolId/cards`
 */
export function acceptStreams(fastify: FastifyInstance, contentTypes: string[], routes: string[]): void {
  (fastify as Server)[STREAMS] = new Map(routes.map((route) => [route, contentTypes]));
  fastify.addContentTypeParser(contentTypes, (request, payload, done) => {
    if (routes.includes(request.routeOptions.url ?? '')) done(null, payload);
    else refuseMediaType(request, payload, done);
  });
}

/** Returns true if the response is sent before the body has arrived, so the connection cannot be reused. */
export const hasUnreadBody = (request: FastifyRequest): boolean => IS_UNREAD in request;

export const useMediaType = (types: string[]): ApiError =>
  new ApiError('UNSUPPORTED_MEDIA_TYPE', `Use the content type ${types.join(' or ')}`);

/** The first error wins. */
function refuse(request: Deferred, error: ApiError): void {
  request[BODY_ERROR] ??= error;
}

const readJson: FastifyContentTypeParser = (request: Deferred, payload, done) =>
  readText(request, payload, (text) => {
    request[BODY_TEXT] = text;
    done(null, undefined);
  });

const refuseMediaType: FastifyContentTypeParser = (request, payload, done) => {
  const streams = (request.server as Server)[STREAMS]?.get(request.routeOptions.url ?? '');
  refuse(request, useMediaType(streams ?? ['application/json']));
  readText(request, payload, () => done(null, undefined));
};

/** Calls back once: with the text, or without it once the body exceeds the limit or breaks off. */
function readText(request: Deferred, payload: IncomingMessage, done: (text?: string) => void): void {
  const limit = request.server.initialConfig.bodyLimit!;
  const budget = (request.server as Server)[BODY_BUDGET]!;
  // The address is gone once the sender has disconnected.
  const source = networkOf(normalizeIp(request.ip ?? ''));
  const chunks: Buffer[] = [];
  let length = 0;
  const giveUp = (error: ApiError) => {
    refuse(request, error);
    request[IS_UNREAD] = true;
    // The rest is discarded.
    request[RELEASE_BUDGET]?.();
    payload.off('data', onData).off('end', onEnd).off('error', onError).resume();
    done();
  };
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) giveUp(new ApiError('PAYLOAD_TOO_LARGE'));
    else if (length > SMALL_BODY_BYTES && !request[RELEASE_BUDGET]) {
      payload.pause();
      const whole = Number(request.headers['content-length'] ?? limit);
      request[RELEASE_BUDGET] = budget.request(source, whole, () => payload.resume());
    }
  };
  const onEnd = () => done((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString());
  const onError = () => giveUp(new ApiError('VALIDATION_FAILED', 'The body did not arrive'));
  if (Number(request.headers['content-length']) > limit) giveUp(new ApiError('PAYLOAD_TOO_LARGE'));
  else payload.on('data', onData).on('end', onEnd).on('error', onError);
}

const NAMED_PROTO = new WeakSet<object>();
/** Returns whether a part of a body came with a member named `__proto__`, which the guard deletes. */
export const namedProto = (part: object): boolean => NAMED_PROTO.has(part);

/** Matches any text that may name `__proto__`: as it is, or with escaped characters. */
const MAY_NAME_PROTO = /__proto__|\\u00/i;

function parse(request: FastifyRequest, text: string): unknown {
  // Some clients send a content type without a body. Where a body is required, validation reports its missing fields.
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (text.length <= 2 * MAX_DEPTH && !MAY_NAME_PROTO.test(text)) return value;
    // Recursive code such as class-transformer would overflow the stack.
    if (!isDeeper(value, MAX_DEPTH)) return value;
    refuse(request, new ApiError('VALIDATION_FAILED', `The body has more than ${MAX_DEPTH} levels`));
  } catch {
    refuse(request, new ApiError('VALIDATION_FAILED', 'The body is not valid JSON'));
  }
  return undefined;
}

/**
 * Returns whether a value is nested deeper than the limit. Also deletes members named `__proto__`, which later code
 * would copy onto objects; a reviver would take ten times as long.
 */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const each of value) if (isDeeper(each, levels - 1)) return true;
    return false;
  }
  const members = value as Record<string, unknown>;
  if (Object.hasOwn(members, '__proto__')) {
    delete members['__proto__'];
    NAMED_PROTO.add(members);
  }
  for (const name in members) if (isDeeper(members[name], levels - 1)) return true;
  return false;
}

const PARSES_BODY = 'parsesBody';
/** Leaves the body of a route to its handler, which calls `parseBody`. */
export const ParsesBody = () => SetMetadata(PARSES_BODY, true);

/**
 * Parses the body of a route with `@ParsesBody()`, once.
 *
 * @throws ApiError if it is not valid
 */
export function parseBody(request: Deferred): unknown {
  const text = request[BODY_TEXT];
  if (text !== undefined) {
    request.body = parse(request, text);
    request[BODY_TEXT] = undefined;
  }
  if (request[BODY_ERROR]) throw request[BODY_ERROR];
  return request.body;
}

@Injectable()
export class DeferredBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<Deferred>();
    if (!Reflect.hasMetadata(PARSES_BODY, context.getHandler())) parseBody(request);
    else if (request[BODY_ERROR]) throw request[BODY_ERROR];
    return true;
  }
}
