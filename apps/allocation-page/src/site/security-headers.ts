import type { Server } from 'node:http';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // A brand's logo and the icon are data URLs.
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** The page uses none of these but the clipboard, and only to write. */
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

const ONE_YEAR_S = 31_536_000;

const headersFor = (publicUrl: string): Readonly<Record<string, string>> => {
  const isHttps = publicUrl.startsWith('https:');
  const policy = [
    ...CONTENT_SECURITY_POLICY,
    // No string ever becomes markup in our script.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    ...(isHttps ? ['upgrade-insecure-requests'] : []),
  ].join('; ');
  return {
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': PERMISSIONS_POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // For browsers that do not know frame-ancestors.
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow, noarchive',
    ...(isHttps ? { 'strict-transport-security': `max-age=${ONE_YEAR_S}` } : {}),
  };
};

/**
 * Puts the headers on every answer of the host. On the server itself, because an address that the router cannot read
 * is refused before any hook of the framework runs.
 */
export function addSecurityHeaders(server: Server, publicUrl: string): void {
  const headers = new Map(Object.entries(headersFor(publicUrl)));
  server.prependListener('request', (_request, response) => {
    response.setHeaders(headers);
  });
}
