import { renderLinkPage, renderProblem, type ErrorRenderer } from '@perkway/platform';

/**
 * A person opens a click_url, so whatever is wrong with one is a page: 404, or 503 when it is not known where it leads.
 * Elsewhere on this host it is problem details.
 */
export const renderLinkError: ErrorRenderer = (error, requestId, address) =>
  address && /^\/c(?:[/?]|$)/.test(address)
    ? renderLinkPage({ status: error.status >= 500 ? 503 : 404 })
    : renderProblem(error, requestId);
