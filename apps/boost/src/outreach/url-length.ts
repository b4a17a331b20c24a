import { invalidField } from '@perkway/domain';

/** Leaves room for the click's own parameters and headers in the 16 KiB that servers take. */
const MAX_URL_LENGTH = 10_000;

/** The URL itself. @throws DomainError VALIDATION_FAILED for one that its attributes make too long */
export function requireUsableLength(url: string): string {
  if (url.length > MAX_URL_LENGTH)
    throw invalidField('cmeta_*', `are together too long for a URL of ${MAX_URL_LENGTH} characters`);
  return url;
}
