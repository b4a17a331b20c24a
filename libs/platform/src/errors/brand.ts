import { BLACK_TEXT, contrast, WHITE_TEXT } from '@perkway/domain';
import { buildMessage, ValidateBy } from 'class-validator';

/** WCAG 2.2, success criterion 1.4.3: normal text. */
const MIN_CONTRAST = 4.5;
const COLOR = /^#[0-9a-f]{6}$/i;

export const isBrandColor = (value: unknown): boolean =>
  typeof value === 'string' &&
  COLOR.test(value) &&
  [WHITE_TEXT, BLACK_TEXT].some((text) => contrast(value, text) >= MIN_CONTRAST);

/** Accepts `#rrggbb` with enough contrast for the text of a button. */
export const IsBrandColor = () =>
  ValidateBy({
    name: 'isBrandColor',
    validator: {
      validate: isBrandColor,
      defaultMessage: buildMessage(
        () =>
          `$property must be #rrggbb, and white or black text on it must reach a contrast of ${MIN_CONTRAST}:1`,
      ),
    },
  });

export const MAX_LOGO_BYTES = 64 * 1024;
const LOGO = /^data:image\/(png|svg\+xml|webp|jpeg);base64,([A-Za-z0-9+/]+={0,2})$/;

/** Checks of the first bytes by image type, so that a file of another type is not accepted as a logo. */
const LOOKS_LIKE: Record<string, (content: Buffer) => boolean> = {
  png: (content) => content.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')),
  jpeg: (content) => content.subarray(0, 3).equals(Buffer.from('\xff\xd8\xff', 'latin1')),
  webp: (content) =>
    content.toString('latin1', 0, 4) === 'RIFF' && content.toString('latin1', 8, 12) === 'WEBP',
  'svg+xml': (content) => /^\ufeff?\s*<(\?xml|!--|!DOCTYPE|svg)/i.test(content.toString('utf8', 0, 200)),
};

/** Length of the longest data URL that holds MAX_LOGO_BYTES. */
const MAX_LOGO_LENGTH = 'data:image/svg+xml;base64,'.length + Math.ceil(MAX_LOGO_BYTES / 3) * 4;

export const isLogo = (value: unknown): boolean => {
  if (typeof value !== 'string' || value.length > MAX_LOGO_LENGTH) return false;
  const [, type, base64] = LOGO.exec(value) ?? [];
  if (!type || !base64) return false;
  const content = Buffer.from(base64, 'base64');
  return content.length <= MAX_LOGO_BYTES && LOOKS_LIKE[type]!(content);
};

/** Accepts a small image as a data URL, so that pages load nothing from other hosts. */
export const IsLogo = () =>
  ValidateBy({
    name: 'isLogo',
    validator: {
      validate: isLogo,
      defaultMessage: buildMessage(
        () =>
          `$property must be data:image/png, svg+xml, webp or jpeg;base64 with an image of at most ${MAX_LOGO_BYTES} bytes`,
      ),
    },
  });
