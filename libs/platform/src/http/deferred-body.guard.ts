import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { DomainError } from '@perkway/domain';
import type { FastifyContentTypeParser, FastifyInstance, FastifyRequest } from 'fastify';

const BODY_ERROR = Symbol('bodyError');
type Deferred = FastifyRequest & { [BODY_ERROR]?: DomainError };

/**
 * Fastify reads the body before any guard runs. So that credentials are judged first (401, 403, then 400), a
 * body that cannot be used is remembered here and refused by the guard below, which runs after authentication.
 */
export function deferBodyErrors(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    try {
      // Some clients name the type of a body that they do not send; where one is needed its fields are missing.
      done(null, body === '' ? undefined : parseJson(body as string));
    } catch {
      refuse(request, new DomainError('VALIDATION_FAILED', 'The body is not valid JSON'));
      done(null, undefined);
    }
  });
  fastify.addContentTypeParser('*', refuseMediaType);
}

/**
 * Gives one route bodies of these types as a `Readable` that nobody has read yet, of any length, so that credentials
 * are judged first. Other routes refuse them like any unknown type.
 *
 * @param route its pattern, such as `/admin/pools/:poolId/cards`
 */
export function acceptStreams(fastify: FastifyInstance, contentTypes: string[], route: string): void {
  fastify.addContentTypeParser(contentTypes, (request, payload, done) => {
    if (request.routeOptions.url === route) done(null, payload);
    else refuseMediaType(request, payload, done);
  });
}

function refuse(request: FastifyRequest, error: DomainError): void {
  (request as Deferred)[BODY_ERROR] = error;
}

const refuseMediaType: FastifyContentTypeParser = (request, payload, done) => {
  refuse(request, new DomainError('UNSUPPORTED_MEDIA_TYPE'));
  payload.resume();
  payload.on('end', () => done(null, undefined)).on('error', done);
};

/** `__proto__`, also with escaped underscores. */
const MAY_NAME_PROTO = /__proto__|\\u005f/i;

const parseJson = (text: string): unknown =>
  // `__proto__` as an own member would be copied onto objects by later code. A reviver is slow, so only where need be.
  MAY_NAME_PROTO.test(text)
    ? JSON.parse(text, (name, value: unknown) => (name === '__proto__' ? undefined : value))
    : JSON.parse(text);

@Injectable()
export class DeferredBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const error = context.switchToHttp().getRequest<Deferred>()[BODY_ERROR];
    if (error) throw error;
    return true;
  }
}
