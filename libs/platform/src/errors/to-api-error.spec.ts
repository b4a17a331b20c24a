import { HttpException, NotFoundException } from '@nestjs/common';
import { ApiError, ERROR_CODES, invalidField, type ErrorCode } from '@perkway/domain';
import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { renderCubeError, renderPlainCode, renderProblem } from './error-renderer.js';
import { isDatabaseGone, toApiError } from './to-api-error.js';

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code });
const queryFailed = (driverError: Error) => Object.assign(new Error('QueryFailedError'), { driverError });

describe('toApiError', () => {
  it('keeps an expected error', () => {
    const refusal = invalidField('name', 'is missing');
    expect(toApiError(refusal)).toBe(refusal);
  });

  it.each<[number, ErrorCode]>([
    [400, 'VALIDATION_FAILED'],
    [401, 'API_KEY_INVALID'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
    [406, 'VALIDATION_FAILED'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [414, 'URI_TOO_LONG'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [429, 'TOO_MANY_REQUESTS'],
    [500, 'INTERNAL_ERROR'],
    [501, 'INTERNAL_ERROR'],
    [503, 'DEPENDENCY_UNAVAILABLE'],
  ])('maps the HTTP exception %i to the code %s, without its text', (status, code) => {
    const error = toApiError(new HttpException('a text about SELECT * FROM cards', status));
    expect(error.code).toBe(code);
    expect(error.detail).not.toContain('cards');
  });

  it.each([
    ['a refused connection', withCode('ECONNREFUSED')],
    ['a lost connection', queryFailed(withCode('ECONNRESET'))],
    ['both addresses refused', new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')])],
    ['a server that shuts down', queryFailed(withCode('57P01'))],
    ['a server that starts', withCode('57P03')],
    ['no free connection slot', withCode('53300')],
    ['a disk that is full', queryFailed(withCode('53100'))],
    ['a statement timeout', queryFailed(withCode('57014'))],
    ['a lock timeout', queryFailed(withCode('55P03'))],
    ['a deadlock', queryFailed(withCode('40P01'))],
    ['a serialization failure', queryFailed(withCode('40001'))],
    ['a read-only standby', queryFailed(withCode('25006'))],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
    ['a missing response', queryFailed(new Error('Query read timeout'))],
    ['a broken connection', new Error('Connection terminated unexpectedly')],
    ['a statement on a broken connection', new QueryRunnerAlreadyReleasedError()],
    ['a transaction on a broken connection', new QueryRunnerProviderAlreadyReleasedError()],
  ])('maps %s to 503', (_, thrown) => {
    expect(toApiError(thrown)).toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      status: 503,
      detail: 'The database is not available, please try again',
    });
  });

  it.each([
    [true, withCode('ECONNREFUSED')],
    [true, new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')])],
    [true, withCode('57P01')],
    [true, withCode('25006')],
    [true, new Error('Connection terminated unexpectedly')],
    [false, withCode('53300')],
    [false, withCode('57014')],
    [false, new Error('timeout exceeded when trying to connect')],
    [false, new Error('Connection terminated due to connection timeout')],
    [false, new Error('Query read timeout')],
  ])('returns %s from isDatabaseGone for %s', (gone, error) => {
    expect(isDatabaseGone(error)).toBe(gone);
  });

  it('maps a string that Postgres cannot store to 400', () => {
    expect(toApiError(queryFailed(withCode('22021'))).code).toBe('VALIDATION_FAILED');
    expect(toApiError(withCode('22P05')).code).toBe('VALIDATION_FAILED');
  });

  it.each([
    ['a violated constraint', queryFailed(withCode('23505'))],
    ['an invalid statement', queryFailed(withCode('42601'))],
    ['a bug', new TypeError("Cannot read properties of undefined (reading 'secret')")],
    ['a string', 'thrown'],
    ['nothing', undefined],
    ['null', null],
  ])('maps %s to 500 without any detail', (_, thrown) => {
    const error = toApiError(thrown);
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR', detail: ERROR_CODES.INTERNAL_ERROR.title });
  });

  it('maps the errors of Fastify', () => {
    const fastifyError = (code: string, statusCode: number) => Object.assign(withCode(code), { statusCode });
    expect(toApiError(fastifyError('FST_ERR_CTP_BODY_TOO_LARGE', 413)).code).toBe('PAYLOAD_TOO_LARGE');
    expect(toApiError(fastifyError('FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400))).toMatchObject({
      code: 'VALIDATION_FAILED',
      detail: 'The request cannot be read',
    });
  });
});

describe('the error formats', () => {
  const error = new ApiError('VALIDATION_FAILED', 'name is missing', [
    { field: 'name', message: 'is missing' },
  ]);

  it('are problem details (RFC 9457)', () => {
    const { contentType, body } = renderProblem(error, 'r-1');
    expect(contentType).toBe('application/problem+json; charset=utf-8');
    expect(JSON.parse(body)).toEqual({
      type: '/errors#VALIDATION_FAILED',
      title: 'The request has a missing or invalid value',
      status: 400,
      detail: 'name is missing',
      code: 'VALIDATION_FAILED',
      requestId: 'r-1',
      errors: [{ field: 'name', message: 'is missing' }],
    });
    expect(JSON.parse(renderProblem(toApiError(new NotFoundException()), 'r-1').body)).not.toHaveProperty(
      'errors',
    );
  });

  it('are the code alone for gift cards', () => {
    expect(renderPlainCode(error, 'r-1')).toEqual({
      contentType: 'text/plain; charset=utf-8',
      body: 'VALIDATION_FAILED',
      headers: { 'perkway-detail': 'name is missing' },
    });
    expect(renderPlainCode(new ApiError('IDEMPOTENCY_KEY_INVALID'), 'r-1').headers).toEqual({
      'perkway-detail': 'idempotencyKey must be a UUID',
    });
  });

  it('are {"error"} for Cube clients', () => {
    expect(renderCubeError(error, 'r-1')).toEqual({
      contentType: 'application/json; charset=utf-8',
      body: '{"error":"name is missing"}',
    });
    expect(renderCubeError(new ApiError('API_KEY_INVALID', 'The token has expired'), 'r-1')).toMatchObject({
      body: '{"error":"Invalid token"}',
      headers: { 'perkway-detail': 'The token has expired' },
    });
  });
});
