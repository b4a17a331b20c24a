import { HttpException, NotFoundException } from '@nestjs/common';
import { DomainError, ERROR_CODES, invalidField, type ErrorCode } from '@perkway/domain';
import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { renderCubeError, renderPlainCode, renderProblem } from './error-renderer.js';
import { isDatabaseGone, toDomainError } from './to-domain-error.js';

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code });
const queryFailed = (driverError: Error) => Object.assign(new Error('QueryFailedError'), { driverError });

describe('toDomainError', () => {
  it('keeps an expected refusal', () => {
    const refusal = invalidField('name', 'is missing');
    expect(toDomainError(refusal)).toBe(refusal);
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
  ])('gives an HTTP exception %i the code %s, and none of its text', (status, code) => {
    const error = toDomainError(new HttpException('a text about SELECT * FROM cards', status));
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
    ['a standby that cannot be written', queryFailed(withCode('25006'))],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
    ['an answer that does not come', queryFailed(new Error('Query read timeout'))],
    ['a connection cut in the middle', new Error('Connection terminated unexpectedly')],
    ['a statement after the cut', new QueryRunnerAlreadyReleasedError()],
    ['a transaction after the cut', new QueryRunnerProviderAlreadyReleasedError()],
  ])('answers 503 for %s', (_, thrown) => {
    expect(toDomainError(thrown)).toMatchObject({
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
  ])('says %s that the database is gone for %s', (gone, error) => {
    expect(isDatabaseGone(error)).toBe(gone);
  });

  it('answers 400 for a text that Postgres cannot store', () => {
    expect(toDomainError(queryFailed(withCode('22021'))).code).toBe('VALIDATION_FAILED');
    expect(toDomainError(withCode('22P05')).code).toBe('VALIDATION_FAILED');
  });

  it.each([
    ['a broken constraint', queryFailed(withCode('23505'))],
    ['a wrong statement', queryFailed(withCode('42601'))],
    ['a fault', new TypeError("Cannot read properties of undefined (reading 'secret')")],
    ['a text', 'thrown'],
    ['nothing', undefined],
    ['null', null],
  ])('answers 500 without any detail for %s', (_, thrown) => {
    const error = toDomainError(thrown);
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR', detail: ERROR_CODES.INTERNAL_ERROR.title });
  });

  it('knows the errors of Fastify', () => {
    const fastifyError = (code: string, statusCode: number) => Object.assign(withCode(code), { statusCode });
    expect(toDomainError(fastifyError('FST_ERR_CTP_BODY_TOO_LARGE', 413)).code).toBe('PAYLOAD_TOO_LARGE');
    expect(toDomainError(fastifyError('FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400))).toMatchObject({
      code: 'VALIDATION_FAILED',
      detail: 'The request cannot be read',
    });
  });
});

describe('the error formats', () => {
  const error = new DomainError('VALIDATION_FAILED', 'name is missing', [
    { field: 'name', message: 'is missing' },
  ]);

  it('are problem details (RFC 9457)', () => {
    const { contentType, body } = renderProblem(error, 'r-1');
    expect(contentType).toBe('application/problem+json; charset=utf-8');
    expect(JSON.parse(body)).toEqual({
      type: '/errors#VALIDATION_FAILED',
      title: 'The request has a wrong or missing value',
      status: 400,
      detail: 'name is missing',
      code: 'VALIDATION_FAILED',
      requestId: 'r-1',
      errors: [{ field: 'name', message: 'is missing' }],
    });
    expect(JSON.parse(renderProblem(toDomainError(new NotFoundException()), 'r-1').body)).not.toHaveProperty(
      'errors',
    );
  });

  it('are the code alone for gift cards', () => {
    expect(renderPlainCode(error, 'r-1')).toEqual({
      contentType: 'text/plain; charset=utf-8',
      body: 'VALIDATION_FAILED',
      headers: { 'perkway-detail': 'name is missing' },
    });
    expect(renderPlainCode(new DomainError('KEY_EXISTS'), 'r-1')).not.toHaveProperty('headers');
  });

  it('are {"error"} for Cube clients', () => {
    expect(renderCubeError(error, 'r-1')).toEqual({
      contentType: 'application/json; charset=utf-8',
      body: '{"error":"name is missing"}',
    });
  });
});
