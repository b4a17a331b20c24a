import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { DomainError } from '@perkway/domain';
import type { FastifyContentTypeParser, FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';

const BODY_ERROR = Symbol('bodyError');
const IS_UNREAD = Symbol('isUnread');
const STREAMS = Symbol('streams');
/** The types that each route takes as streams, by its pattern. */
type Server = FastifyInstance & { [STREAMS]?: Map<string, string[]> };
type Deferred = FastifyRequest & { [BODY_ERROR]?: DomainError; [IS_UNREAD]?: true };

/** What Fastify can read: a type, a subtype, and perhaps parameters. */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Levels of lists and objects in one another. No body of ours has half as many. */
const MAX_DEPTH = 100;

/**
 * Fastify reads the body before any guard runs. So that credentials are judged first (401, 403, then 400), a
 * body that cannot be used is remembered here and refused by the guard below, which runs after authentication.
 */
export function deferBodyErrors(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', (request, payload, done) =>
    readText(request, payload, (text) => done(null, text === undefined ? undefined : parse(request, text))),
  );
  fastify.addContentTypeParser('*', refuseMediaType);
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
  const chunks: Buffer[] = [];
  let length = 0;
  const giveUp = (error: DomainError) => {
    refuse(request, error);
    request[IS_UNREAD] = true;
    payload.off('data', onData).off('end', onEnd).off('error', onError).resume();
    done();
  };
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) giveUp(new DomainError('PAYLOAD_TOO_LARGE'));
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
    const value = parseJson(text);
    // Whatever looks at all of it, such as class-transformer, would run out of stack.
    if (text.length <= 2 * MAX_DEPTH || !isDeeper(value, MAX_DEPTH)) return value;
    refuse(request, new DomainError('VALIDATION_FAILED', `The body has more than ${MAX_DEPTH} levels`));
  } catch {
    refuse(request, new DomainError('VALIDATION_FAILED', 'The body is not valid JSON'));
  }
  return undefined;
}

const parseJson = (text: string): unknown =>
  // `__proto__` as an own member would be copied onto objects by later code. A reviver is slow, so only where need be.
  MAY_NAME_PROTO.test(text)
    ? JSON.parse(text, (name, value: unknown) => (name === '__proto__' ? undefined : value))
    : JSON.parse(text);

const isDeeper = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
};

@Injectable()
export class DeferredBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const error = context.switchToHttp().getRequest<Deferred>()[BODY_ERROR];
    if (error) throw error;
    return true;
  }
}
