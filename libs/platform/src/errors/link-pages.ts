import { readWeightedList, type ApiError } from '@perkway/domain';
import { pageSecurity } from '../http/page-security.js';
import type { RejectedRequest, RenderedError } from './error-renderer.js';
import { LINK_PAGE_TEXTS } from './link-page-texts.js';

const STYLE =
  'body{margin:0;min-height:100vh;display:grid;place-items:center;background:#f6f5f2;color:#1d1d1b;' +
  'font:1.125rem/1.5 system-ui,sans-serif}main{max-width:32rem;padding:2rem}h1{font-size:1.6rem;line-height:1.25}' +
  '@media(prefers-color-scheme:dark){body{background:#1d1d1b;color:#f6f5f2}}';

const page = (language: string, { title, text }: { title: string; text: string }): string =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8">` +
  '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">' +
  `<title>${title}</title><style>${STYLE}</style></head>` +
  `<body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;

const PAGES = new Map(
  Object.entries(LINK_PAGE_TEXTS).map(([language, { broken, unavailable }]) => [
    language,
    { language, broken: page(language, broken), unavailable: page(language, unavailable) },
  ]),
);
const [DEFAULT_PAGES] = PAGES.values();

/** `fr-CA` falls back to `fr`. */
const pagesFor = (acceptLanguage: string | undefined) => {
  for (const tag of readWeightedList(acceptLanguage)) {
    const pages = tag === '*' ? DEFAULT_PAGES : PAGES.get(tag.split('-', 1)[0]!);
    if (pages) return pages;
  }
  return DEFAULT_PAGES!;
};

const HEADERS = { ...pageSecurity(STYLE), 'x-robots-tag': 'noindex' };

/** Renders a link error as a small page in the reader's language. It never echoes the request. */
export const renderLinkPage = (
  { status }: Pick<ApiError, 'status'>,
  { acceptLanguage }: Partial<RejectedRequest> = {},
): RenderedError => {
  const { language, broken, unavailable } = pagesFor(acceptLanguage);
  const isUnavailable = status >= 500;
  return {
    contentType: 'text/html; charset=utf-8',
    body: isUnavailable ? unavailable : broken,
    status: isUnavailable ? 503 : status,
    headers: { ...HEADERS, 'content-language': language, vary: 'accept-language' },
  };
};
