import { ApiError, ERROR_CODES, invalidField } from './errors.js';

describe('ERROR_CODES', () => {
  it('has the statuses of the specification', () => {
    const statusOf = (code: keyof typeof ERROR_CODES) => ERROR_CODES[code].status;
    expect(statusOf('API_KEY_INVALID')).toBe(401);
    expect(statusOf('FORBIDDEN')).toBe(403);
    expect(statusOf('PERK_IS_NOT_IN_CAMPAIGN')).toBe(400);
    expect(statusOf('IDEMPOTENCY_KEY_CONFLICT')).toBe(409);
  });

  it('sets the status of an error and names the field', () => {
    const error = invalidField('rank', 'must be an integer');
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      detail: 'rank must be an integer',
    });
    expect(error.fields).toEqual([{ field: 'rank', message: 'must be an integer' }]);
  });
});
