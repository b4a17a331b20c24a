const integer = (description: string) => ({ description, schema: { type: 'integer' as const } });

/** Documents the headers of a limit. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Limit': integer('Requests that are allowed in one window'),
  'RateLimit-Remaining': integer('How many of them are left'),
  'RateLimit-Reset': integer(
    'Seconds until the next window, or if nothing is left until one more is admitted',
  ),
};
