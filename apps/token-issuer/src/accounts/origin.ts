import { parseUrl } from '@perkway/domain';
import { buildMessage, ValidateBy } from 'class-validator';

/**
 * Normalizes an origin to the form that browsers send (RFC 6454): lower-case scheme and host, and a port unless it is
 * the default. Returns undefined for anything else, such as a URL with a path, `*` or `null`.
 */
export function normalizeOrigin(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^https?:\/\/[^/?#@\\\s]+$/i.test(value)) return undefined;
  return parseUrl(value)?.origin;
}

/** Validates a list of origins. */
export const AreOrigins = () =>
  ValidateBy(
    {
      name: 'areOrigins',
      validator: {
        validate: (value) => normalizeOrigin(value) !== undefined,
        defaultMessage: buildMessage(
          (each) => `${each}$property must be an origin such as https://shop.example, without a path`,
          { each: true },
        ),
      },
    },
    { each: true },
  );
