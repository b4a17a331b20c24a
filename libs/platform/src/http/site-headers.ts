import type { Server } from 'node:http';

/** Our pages use none of these but the clipboard, and only to write. */
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

/** What every page of ours is held to; a site says besides what its pages load. */
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
 * Puts the headers of a site with pages on every answer of its host. On the server itself, because an address that the router
 * cannot read is refused before any hook of the framework runs.
 * @param policy what the content security policy of these pages has besides
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
    // Pictures and links of others do not learn where they are shown.
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
    // For browsers that do not know frame-ancestors.
    ['x-frame-options', 'DENY'],
    ['x-robots-tag', 'noindex, nofollow, noarchive'],
    ...(isHttps ? [['strict-transport-security', `max-age=${ONE_YEAR_S}`] as const] : []),
  ]);
  server.prependListener('request', (_request, response) => {
    response.setHeaders(headers);
  });
}
