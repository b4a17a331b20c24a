import { buildMessage, ValidateBy } from 'class-validator';

/**
 * An origin as browsers send it (RFC 6454): scheme, host and a port that is not the default one, in lower case. Undefined
 * for anything else, such as a URL with a path, `*` or `null`.
 */
export function normalizeOrigin(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^https?:\/\/[^/?#@\\\s]+$/i.test(value) || !URL.canParse(value))
    return undefined;
  return new URL(value).origin;
}

/** A list of origins. */
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
