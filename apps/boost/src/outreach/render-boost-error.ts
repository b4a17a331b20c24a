import { renderLinkPage, renderProblem, type ErrorRenderer } from '@perkway/platform';
import { PIXEL, PIXEL_HEADERS, PIXEL_PATH } from './pixel-image.js';

const CLICK_PATH = /^\/(?:outreach\/)?click(?:\?|$)/;

/**
 * A pixel stands in somebody's message, so it is an image whatever happens. A click that leads nowhere is a page for a
 * browser. The rest is problem details.
 */
export const renderBoostError: ErrorRenderer = (error, requestId, asked) => {
  // Neither is sent anything by a message or a browser.
  if (!asked || error.code === 'METHOD_NOT_ALLOWED') return renderProblem(error, requestId);
  const { address, accept } = asked;
  if (PIXEL_PATH.test(address))
    return { contentType: 'image/png', body: '', bytes: PIXEL, status: 200, headers: PIXEL_HEADERS };
  if (CLICK_PATH.test(address) && accept?.includes('text/html')) return renderLinkPage(error, asked);
  return renderProblem(error, requestId);
};
