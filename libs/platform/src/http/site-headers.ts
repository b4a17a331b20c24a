import type { Server } from 'node:http';

/** Our pages use none of these, except writing to the clipboard. */
const PERMISSIONS_POLICY = [
  'clipboard-write=(self)',
  ...[
    'accelerometer',
    'browsing-topics',
    'camera',
    'clipboard-read',
    'display-capture',
    'geolocation',
    'gyroscope',
    'magnetometer',
    'microphone',
    'midi',
    'payment',
    'usb',
  ].map((feature) => `${feature}=()`),
].join(', ');

/** Applies to every page. A site adds the sources that its pages load. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

const ONE_YEAR_S = 31_536_000;

/**
 * Adds security headers to every response of a site. On the server itself, because Fastify rejects unreadable paths
 * before any hook runs.
 * @param policy additions to the content security policy
 */
export function addSiteHeaders(server: Server, publicUrl: string, policy: readonly string[]): void {
  const isHttps = publicUrl.startsWith('https:');
  const headers = new Map([
    [
      'content-security-policy',
      [...CONTENT_SECURITY_POLICY, ...policy, ...(isHttps ? ['upgrade-insecure-requests'] : [])].join('; '),
    ],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['permissions-policy', PERMISSIONS_POLICY],
    // Other hosts do not learn which page shows their images and links.
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
    // For browsers without frame-ancestors.
    ['x-frame-options', 'DENY'],
    ['x-robots-tag', 'noindex, nofollow, noarchive'],
    ...(isHttps ? [['strict-transport-security', `max-age=${ONE_YEAR_S}`] as const] : []),
  ]);
  server.prependListener('request', (_request, response) => {
    response.setHeaders(headers);
  });
}
