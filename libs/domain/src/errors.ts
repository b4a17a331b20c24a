export interface ErrorDefinition {
  status: number;
  /** The meaning, without a period. */
  title: string;
  /** What the caller can do. Defaults to the advice for the status. */
  advice?: string;
}

/**
 * All error codes, with their meaning and HTTP status. `/errors` shows them.
 * Source: specification section 7 and docs/http-contract.md.
 */
export const ERROR_CODES = {
  VALIDATION_FAILED: { status: 400, title: 'The request has a missing or invalid value' },
  PERK_IS_NOT_IN_CAMPAIGN: { status: 400, title: 'The perk is not part of the campaign' },
  PERK_HAS_NO_CODES: { status: 400, title: 'The perk is not redeemed by single-use codes' },
  EXPIRING_DATE_INVALID: { status: 400, title: 'expires_at is missing or not a valid future time' },
  DENOMINATION_INVALID: {
    status: 400,
    title: 'denomination must be a number above 0, with no more decimals than its currency has',
  },
  CURRENCY_INVALID: { status: 400, title: 'currency must be an upper-case ISO 4217 code' },
  COUNTRY_INVALID: { status: 400, title: 'country must be an upper-case ISO 3166-1 alpha-2 code' },
  CAMPAIGN_ID_INVALID: { status: 400, title: 'campaign_id must be a string of 1 to 255 characters' },
  JOURNEY_ID_INVALID: { status: 400, title: 'journey_id must be a string of 1 to 255 characters' },
  REFERENCE_INVALID: { status: 400, title: 'reference must be a string of 1 to 255 characters' },
  STATE_INVALID: { status: 400, title: 'state must be RESERVED, REVEALED or EXPIRED' },
  POOL_ID_INVALID: { status: 400, title: 'pool_id must be a UUID' },
  LIMIT_INVALID: { status: 400, title: 'limit must be a whole number from 1 to 200' },
  CURSOR_INVALID: { status: 400, title: 'The cursor was not issued by this list' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'idempotencyKey must be a UUID' },
  CREATED_BY_MISSING: { status: 400, title: 'The header X-Created-By is missing' },
  CREATED_BY_INVALID: { status: 400, title: 'The header X-Created-By is longer than 255 characters' },
  REASON_INVALID: { status: 400, title: 'reason must be a string of 1 to 255 characters' },
  MONTH_INVALID: { status: 400, title: 'month must be a past month or this one, as YYYY-MM' },
  URL_FORBIDDEN: { status: 400, title: 'Webhooks cannot be delivered to this URL' },
  API_KEY_INVALID: { status: 401, title: 'The API key is missing, malformed, unknown or expired' },
  SESSION_ENDED: { status: 401, title: 'There is no session, or it has ended' },
  LINK_TOKEN_MISSING: { status: 401, title: 'The link token is missing' },
  VIEW_READ_ONLY: { status: 403, title: 'An operator who views an account cannot change it' },
  ORIGIN_FORBIDDEN: { status: 403, title: 'The request does not come from a page of this host' },
  FORBIDDEN: { status: 403, title: 'The key does not allow this operation' },
  SCOPE_MISSING: { status: 403, title: 'The key does not have the scope of this operation' },
  KEY_EXPIRES: { status: 403, title: 'An expiring key cannot grant access that outlasts it' },
  APPROVAL_BY_KEY: {
    status: 403,
    title: 'Sign in as a person to approve or reject a job, not with an API key',
  },
  APPROVAL_OWN_JOB: { status: 403, title: 'Another person of the account must approve or reject your job' },
  NOT_FOUND: { status: 404, title: 'There is nothing at this URL' },
  ACCOUNT_NOT_FOUND: { status: 404, title: 'The account does not exist' },
  KEY_NOT_FOUND: { status: 404, title: 'The API key does not exist' },
  PERSON_NOT_FOUND: { status: 404, title: 'No such person in this account' },
  CATEGORY_NOT_FOUND: { status: 404, title: 'The category does not exist' },
  COLLECTION_NOT_FOUND: { status: 404, title: 'The perk collection does not exist' },
  PERK_NOT_FOUND: { status: 404, title: 'The perk does not exist' },
  CAMPAIGN_NOT_FOUND: { status: 404, title: 'The campaign does not exist' },
  POOL_NOT_FOUND: { status: 404, title: 'The gift-card pool does not exist' },
  LOAD_NOT_FOUND: { status: 404, title: 'The card load does not exist' },
  WITHDRAWAL_NOT_FOUND: { status: 404, title: 'The pool has no such withdrawal' },
  LINK_NOT_FOUND: { status: 404, title: 'The link does not exist' },
  JOB_NOT_FOUND: { status: 404, title: 'The job does not exist' },
  REPORT_NOT_FOUND: { status: 404, title: 'The report does not exist, has expired or was revoked' },
  QUESTION_NOT_FOUND: { status: 404, title: 'The account has no such saved question' },
  ERASURE_NOT_FOUND: { status: 404, title: 'The account has no such erasure' },
  LIMIT_NOT_FOUND: { status: 404, title: 'The account has no such limit' },
  WEBHOOK_NOT_FOUND: { status: 404, title: 'The account has no such webhook' },
  EVENT_NOT_FOUND: { status: 404, title: 'The account has no such event' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed here' },
  KEY_EXISTS: { status: 409, title: 'The API key already exists' },
  KEY_ROTATED: { status: 409, title: 'The API key was already rotated' },
  KEY_EXPIRED: { status: 409, title: 'The API key has expired' },
  NO_AVAILABLE_CODES: { status: 409, title: 'No single-use code is left' },
  NO_AVAILABLE_CARDS: {
    status: 409,
    title: 'The pool has no available card for this request',
    advice: 'Retry once a card is available: cards were loaded, or a link ended unrevealed.',
  },
  LIMIT_REACHED: {
    status: 409,
    title: 'A limit of the account is reached',
    advice:
      'Retry after the number of seconds in Retry-After. Without this header, retry once the limit has room again.',
  },
  NOT_AWAITING_APPROVAL: { status: 409, title: 'The job is not awaiting approval' },
  APPROVAL_LAPSED: { status: 409, title: 'Nobody approved the job in time' },
  IDEMPOTENCY_KEY_CONFLICT: {
    status: 409,
    title: 'The idempotency key was used with another request',
    advice: 'Do not retry: use a new key for another request.',
  },
  IN_USE: { status: 409, title: 'The resource is in use and cannot be deleted' },
  TOO_MANY_LIMITS: { status: 409, title: 'The account has the maximum of 100 limits' },
  TOO_MANY_QUESTIONS: { status: 409, title: 'The account has the maximum of 100 saved questions' },
  TOO_MANY_WEBHOOKS: { status: 409, title: 'The account has the maximum number of webhooks' },
  MONTH_OPEN: { status: 409, title: 'The month is not closed' },
  WEBHOOK_DISABLED: { status: 409, title: 'The webhook is disabled' },
  LINK_NOT_REVEALED: { status: 409, title: 'The link has not been revealed' },
  LINK_ALREADY_REVEALED: { status: 409, title: 'The link has already been revealed' },
  LINK_EXPIRED: { status: 410, title: 'The link has expired' },
  CURSOR_EXPIRED: {
    status: 410,
    title: 'The cursor is older than the events that are kept',
    advice: 'Start again with the parameter "from" instead of "cursor".',
  },
  PRECONDITION_FAILED: { status: 412, title: 'The resource does not match If-Match' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  URI_TOO_LONG: { status: 414, title: 'The URL is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The content type is not supported' },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests' },
  INTERNAL_ERROR: { status: 500, title: 'Something went wrong on our side' },
  DEPENDENCY_UNAVAILABLE: { status: 503, title: 'A required service is not available' },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A problem with one field of a request. `field` is its name as the caller wrote it. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** An expected error. The error filter of each host turns it into that host's error body. */
export class ApiError extends Error {
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    readonly detail: string = ERROR_CODES[code].title,
    readonly fields: readonly FieldProblem[] = [],
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
    this.name = 'ApiError';
    this.status = ERROR_CODES[code].status;
  }
}

/** Returns a 400 VALIDATION_FAILED that names every field. */
export const invalidFields = (problems: readonly FieldProblem[]): ApiError => {
  const detail = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new ApiError('VALIDATION_FAILED', detail, problems);
};
export const invalidField = (field: string, message: string): ApiError => invalidFields([{ field, message }]);

const MAX_IDS_NAMED = 20;
/** Returns a 409 that names what uses the resource. @param what in the plural: "the perks" */
export function inUse(what: string, ids: readonly (string | number)[]): ApiError {
  const more = ids.length - MAX_IDS_NAMED;
  const named = ids.slice(0, MAX_IDS_NAMED).join(', ');
  return new ApiError('IN_USE', `It is used by ${what} ${named}${more > 0 ? ` and ${more} more` : ''}`);
}

/** Returns a 503: `what` names the missing dependency in words that are safe to show; `cause` is for the log. */
export const unavailable = (what: string, cause?: unknown): ApiError =>
  new ApiError('DEPENDENCY_UNAVAILABLE', `${what} is not available, please try again`, [], { cause });
