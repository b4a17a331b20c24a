import { RATE_LIMIT_HEADERS, type Credentials } from '@perkway/platform';
import { ROLES } from '@perkway/domain';
import { accessOf } from './access.js';

/** Describes the guard and its rate limit in the OpenAPI documents. */
export const apiKeyCredentials: Credentials = {
  name: 'apiKey',
  scheme: { type: 'apiKey', name: 'X-API-Key', in: 'header' },
  requirementsOf: (route) => {
    const { isPublic, allowsQueryKey, roles, scope } = accessOf(...route);
    if (isPublic) return undefined;
    return {
      scope,
      errors: [
        'API_KEY_INVALID',
        ...(ROLES.every((role) => roles.includes(role)) ? [] : (['FORBIDDEN'] as const)),
        'SCOPE_MISSING',
        'TOO_MANY_REQUESTS',
        'DEPENDENCY_UNAVAILABLE',
      ],
      parameters: allowsQueryKey
        ? [
            {
              name: 'api_key',
              in: 'query',
              required: false,
              description:
                'The API key, where a header cannot be set. Looked at only when there is no `X-API-Key` header',
              schema: { type: 'string' },
            },
          ]
        : [],
      headers: RATE_LIMIT_HEADERS,
    };
  },
};
