import type { Server } from 'node:http';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

const PERMISSIONS_POLICY = [
  'clipboard-write=(self)',
  ...['camera', 'clipboard-read', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb'].map(
    (feature) => `${feature}=()`,
  ),
].join(', ');

const ONE_YEAR_S = 31_536_000;

const headersFor = (publicUrl: string): Readonly<Record<string, string>> => {
  const isHttps = publicUrl.startsWith('https:');
  const policy = [
    ...CONTENT_SECURITY_POLICY,
    // Pictures of perks are where their partners keep them, on the local stack without TLS too.
    `img-src 'self' data: https:${isHttps ? '' : ' http:'}`,
    ...(isHttps ? ['upgrade-insecure-requests'] : []),
  ].join('; ');
  return {
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': PERMISSIONS_POLICY,
    // Pictures and links of others do not learn where they are shown.
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow, noarchive',
    ...(isHttps ? { 'strict-transport-security': `max-age=${ONE_YEAR_S}` } : {}),
  };
};

/** Puts the headers on every answer of the host, also on one to a request that no hook of the framework sees. */
export function addSecurityHeaders(server: Server, publicUrl: string): void {
  const headers = new Map(Object.entries(headersFor(publicUrl)));
  server.prependListener('request', (_request, response) => {
    response.setHeaders(headers);
  });
}
