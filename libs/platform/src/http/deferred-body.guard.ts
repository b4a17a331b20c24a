import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { DomainError } from '@perkway/domain';
import type { FastifyContentTypeParser, FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { BodyRoom } from './body-room.js';
import { networkOf, normalizeIp } from './client-ip.js';

const BODY_TEXT = Symbol('bodyText');
const BODY_ERROR = Symbol('bodyError');
const IS_UNREAD = Symbol('isUnread');
const STREAMS = Symbol('streams');
const ROOM = Symbol('room');
const LEAVE_ROOM = Symbol('leaveRoom');
/** The types that each route takes as streams, by its pattern. */
type Server = FastifyInstance & { [STREAMS]?: Map<string, string[]>; [ROOM]?: BodyRoom };
type Deferred = FastifyRequest & {
  [BODY_TEXT]?: string;
  [BODY_ERROR]?: DomainError;
  [IS_UNREAD]?: true;
  [LEAVE_ROOM]?: () => void;
};

/** What Fastify can read: a type, a subtype, and perhaps parameters. */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Of all bodies that have more than the first so many of these bytes, and of those from one address. */
const ROOM_BYTES = 16 * 1024 * 1024;
const ROOM_OF_ADDRESS = ROOM_BYTES / 4;
const SMALL_BODY = 16 * 1024;

/** Levels of lists and objects in one another. No body of ours has half as many. */
const MAX_DEPTH = 100;

/**
 * Fastify reads the body before any guard runs. So that credentials are judged first (401, 403, then 400), the text is kept
 * here and made sense of, or refused, by the guard below, which runs after authentication: nobody unknown makes an app
 * parse megabytes.
 */
export function deferBodyErrors(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', (request: Deferred, payload, done) =>
    readText(request, payload, (text) => {
      request[BODY_TEXT] = text;
      done(null, undefined);
    }),
  );
  fastify.addContentTypeParser('*', refuseMediaType);
  (fastify as Server)[ROOM] = new BodyRoom(ROOM_BYTES, ROOM_OF_ADDRESS);
  fastify.addHook('onResponse', (request: Deferred, _reply, done) => {
    request[LEAVE_ROOM]?.();
    done();
  });
  fastify.addHook('onRequest', ({ headers }, _reply, done) => {
    // Fastify refuses what it cannot read by itself, before any guard; this one it hands to the parser above.
    if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type']))
      headers['content-type'] = UNKNOWN_TYPE;
    done();
  });
}

/**
 * Gives one route bodies of these types as a `Readable` that nobody has read yet, of any length, so that credentials
 * are judged first. Other routes refuse them like any unknown type.
 *
 * @param route its pattern, such as `/admin/pools/:poolId/cards`
 */
export function acceptStreams(fastify: FastifyInstance, contentTypes: string[], route: string): void {
  ((fastify as Server)[STREAMS] ??= new Map()).set(route, contentTypes);
  fastify.addContentTypeParser(contentTypes, (request, payload, done) => {
    if (request.routeOptions.url === route) done(null, payload);
    else refuseMediaType(request, payload, done);
  });
}

/** True if the answer leaves before the body has come, so that the connection is good for nothing else. */
export const hasUnreadBody = (request: FastifyRequest): boolean => IS_UNREAD in request;

export const useMediaType = (types: string[]): DomainError =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', `Use the content type ${types.join(' or ')}`);

/** The first error stands. */
function refuse(request: Deferred, error: DomainError): void {
  request[BODY_ERROR] ??= error;
}

const refuseMediaType: FastifyContentTypeParser = (request, payload, done) => {
  const streams = (request.server as Server)[STREAMS]?.get(request.routeOptions.url ?? '');
  refuse(request, useMediaType(streams ?? ['application/json']));
  readText(request, payload, () => done(null, undefined));
};

/** Calls back once: with the text, or without one as soon as it has more bytes than the limit or cannot come any more. */
function readText(request: Deferred, payload: IncomingMessage, done: (text?: string) => void): void {
  const limit = request.server.initialConfig.bodyLimit!;
  const room = (request.server as Server)[ROOM]!;
  // Of a sender who has hung up it is gone.
  const source = networkOf(normalizeIp(request.ip ?? ''));
  const chunks: Buffer[] = [];
  let length = 0;
  const giveUp = (error: DomainError) => {
    refuse(request, error);
    request[IS_UNREAD] = true;
    // What still comes is not kept.
    request[LEAVE_ROOM]?.();
    payload.off('data', onData).off('end', onEnd).off('error', onError).resume();
    done();
  };
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) giveUp(new DomainError('PAYLOAD_TOO_LARGE'));
    else if (length > SMALL_BODY && !request[LEAVE_ROOM]) {
      payload.pause();
      const whole = Number(request.headers['content-length'] ?? limit);
      request[LEAVE_ROOM] = room.ask(source, whole, () => payload.resume());
    }
  };
  const onEnd = () => done((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString());
  const onError = () => giveUp(new DomainError('VALIDATION_FAILED', 'The body did not arrive'));
  if (Number(request.headers['content-length']) > limit) giveUp(new DomainError('PAYLOAD_TOO_LARGE'));
  else payload.on('data', onData).on('end', onEnd).on('error', onError);
}

/** `__proto__`, also with escaped underscores. */
const MAY_NAME_PROTO = /__proto__|\\u005f/i;

function parse(request: FastifyRequest, text: string): unknown {
  // Some clients name the type of a body that they do not send; where one is needed its fields are missing.
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (text.length <= 2 * MAX_DEPTH && !MAY_NAME_PROTO.test(text)) return value;
    // Whatever looks at all of it, such as class-transformer, would run out of stack.
    if (!isDeeper(value, MAX_DEPTH)) return value;
    refuse(request, new DomainError('VALIDATION_FAILED', `The body has more than ${MAX_DEPTH} levels`));
  } catch {
    refuse(request, new DomainError('VALIDATION_FAILED', 'The body is not valid JSON'));
  }
  return undefined;
}

/**
 * Whether it is nested deeper than that. On the way it takes members called `__proto__` away, which later code would copy onto
 * objects; a reviver would take ten times as long.
 */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const each of value) if (isDeeper(each, levels - 1)) return true;
    return false;
  }
  const members = value as Record<string, unknown>;
  if (Object.hasOwn(members, '__proto__')) delete members['__proto__'];
  for (const name in members) if (isDeeper(members[name], levels - 1)) return true;
  return false;
}

@Injectable()
export class DeferredBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<Deferred>();
    const text = request[BODY_TEXT];
    if (text !== undefined) {
      request.body = parse(request, text);
      request[BODY_TEXT] = undefined;
    }
    if (request[BODY_ERROR]) throw request[BODY_ERROR];
    return true;
  }
}
