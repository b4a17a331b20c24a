import type { DomainError } from '@perkway/domain';
import { createHash } from 'node:crypto';
import type { RenderedError } from './error-renderer.js';

const STYLE =
  'body{margin:0;min-height:100vh;display:grid;place-items:center;background:#f6f5f2;color:#1d1d1b;' +
  'font:1.125rem/1.5 system-ui,sans-serif}main{max-width:32rem;padding:2rem}h1{font-size:1.6rem;line-height:1.25}' +
  '@media(prefers-color-scheme:dark){body{background:#1d1d1b;color:#f6f5f2}}';

const page = (title: string, text: string): string =>
  '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
  '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">' +
  `<title>${title}</title><style>${STYLE}</style></head>` +
  `<body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;

/** What a person sees who opens a link that leads nowhere. */
export const BROKEN_LINK_PAGE = page(
  'This link does not work',
  'It may be incomplete, or the offer may no longer exist. Please go back to the page or message you found it in and try the link there again.',
);
/** What a person sees while it cannot be found out where a link leads. */
export const TRY_AGAIN_PAGE = page(
  'Please try again in a moment',
  'We cannot open the offer right now. Nothing is wrong with your link: reload this page in a few seconds.',
);

const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

/** A refusal of a link as a small page. What the person typed or clicked never stands in it. */
export const renderLinkPage = ({ status }: Pick<DomainError, 'status'>): RenderedError => ({
  contentType: 'text/html; charset=utf-8',
  body: status >= 500 ? TRY_AGAIN_PAGE : BROKEN_LINK_PAGE,
  status: status >= 500 ? 503 : status,
  headers: HEADERS,
});
