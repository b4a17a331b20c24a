import { renderLinkPage, renderProblem, type ErrorRenderer } from '@perkway/platform';

/**
 * Renders errors of click_urls as a page for people: 503 for a server error, otherwise 404. Other paths and methods get
 * problem details.
 */
export const renderLinkError: ErrorRenderer = (error, requestId, requested) =>
  requested && /^\/c(?:[/?]|$)/.test(requested.address) && error.code !== 'METHOD_NOT_ALLOWED'
    ? renderLinkPage({ status: error.status >= 500 ? 503 : 404 }, requested)
    : renderProblem(error, requestId);
