import { renderLinkPage, renderProblem, type ErrorRenderer } from '@perkway/platform';

/**
 * A person opens a click_url, so whatever is wrong with one is a page: 404, or 503 when it is not known where it leads.
 * Elsewhere on this host, and to what no person sends, it is problem details.
 */
export const renderLinkError: ErrorRenderer = (error, requestId, asked) =>
  asked && /^\/c(?:[/?]|$)/.test(asked.address) && error.code !== 'METHOD_NOT_ALLOWED'
    ? renderLinkPage({ status: error.status >= 500 ? 503 : 404 }, asked)
    : renderProblem(error, requestId);
