import { invalidField } from '@perkway/domain';

/** Leaves room for the click's own parameters and headers in the 16 KiB that servers accept. */
const MAX_URL_LENGTH = 10_000;

/** Returns the URL. @throws ApiError VALIDATION_FAILED if its attributes make it too long */
export function requireUsableLength(url: string): string {
  if (url.length > MAX_URL_LENGTH)
    throw invalidField('cmeta_*', `together make the URL longer than ${MAX_URL_LENGTH} characters`);
  return url;
}
