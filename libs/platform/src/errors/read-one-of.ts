import { invalidField } from '@perkway/domain';

/**
 * Reads an optional query parameter that has fixed values.
 * @throws ApiError VALIDATION_FAILED
 */
export function readOneOf<Value extends string>(
  field: string,
  given: unknown,
  values: readonly Value[],
): Value | undefined {
  const known = values.find((value) => value === given);
  if (given !== undefined && known === undefined)
    throw invalidField(field, `must be one of ${values.join(', ')}`);
  return known;
}
