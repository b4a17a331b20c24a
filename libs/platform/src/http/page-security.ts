import { createHash } from 'node:crypto';

/** Headers of a page of one style sheet that stands in it, and of nothing else that runs or loads. */
export const pageSecurity = (style: string): Readonly<Record<string, string>> => ({
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});
