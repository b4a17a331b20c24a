import { renderLinkPage, renderProblem, type ErrorRenderer } from '@perkway/platform';
import { PIXEL, PIXEL_HEADERS, PIXEL_PATH } from './pixel-image.js';

const CLICK_PATH = /^\/(?:outreach\/)?click(?:\?|$)/;

/**
 * Renders errors: a pixel stays an image, because it is embedded in a message; a browser that follows a link gets a
 * page; everything else is problem details.
 */
export const renderBoostError: ErrorRenderer = (error, requestId, requested) => {
  // Input that is not a valid request, or has the wrong method, does not come from a message or a link.
  if (!requested || error.code === 'METHOD_NOT_ALLOWED') return renderProblem(error, requestId);
  const { address, accept } = requested;
  if (PIXEL_PATH.test(address))
    return { contentType: 'image/png', body: '', bytes: PIXEL, status: 200, headers: PIXEL_HEADERS };
  if (CLICK_PATH.test(address) && accept?.includes('text/html')) return renderLinkPage(error, requested);
  return renderProblem(error, requestId);
};
