import { pageSecurity } from '../http/page-security.js';

const STYLE =
  ':root{color-scheme:light dark}body{margin:0 auto;max-width:56rem;padding:2rem 1rem;font:1rem/1.5 system-ui,sans-serif;' +
  'background:Canvas;color:CanvasText}h1{font-size:1.6rem;line-height:1.25}table{border-collapse:collapse;width:100%}' +
  'th,td{padding:.4rem;text-align:start;vertical-align:top;border-bottom:1px solid color-mix(in srgb,CanvasText 20%,Canvas)}' +
  'td{overflow-wrap:anywhere}code{font-size:.875em;overflow-wrap:break-word}:target{background:color-mix(in srgb,#f5c400 30%,Canvas)}';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ESCAPES[character]!);

/** Renders a page for engineers, in English. */
export const htmlPage = (title: string, content: string): string =>
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">' +
  `<meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>` +
  `<body><main><h1>${escapeHtml(title)}</h1>${content}</main></body></html>`;

export const HTML_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'public, max-age=3600',
  ...pageSecurity(STYLE),
};
