const integer = (description: string) => ({ description, schema: { type: 'integer' as const } });

/** Documents the headers of a limit. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Limit': integer('Requests allowed per window'),
  'RateLimit-Remaining': integer('Requests left in the window'),
  'RateLimit-Reset': integer(
    'Seconds until the next window or, with no request left, until the next one is allowed',
  ),
};
