/** A PNG of one fully transparent pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=',
  'base64',
);
export const PIXEL_HEADERS = {
  'content-type': 'image/png',
  'content-length': String(PIXEL.length),
  'cache-control': 'no-store',
};

/** Matches the paths of both pixels, whatever the campaign id. */
export const PIXEL_PATH = /^\/outreach\/campaign\/[^/?]*\/tracking-pixel\/(?:teaser|reward)(?:\?|$)/;
